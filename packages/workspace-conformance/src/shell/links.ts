import {
  type FileSystem,
  type FileSystemConfig,
  fileSystemConfigSchema,
  type Workspace,
} from '@helix-agents/core/provider'
import { workspaceModules } from '@helix-agents/core/runtime'
import { check, equal, rejectsWithCode } from '../assert.ts'
import { names, read } from '../file-system/files.ts'
import { filesOf } from '../provider/provider-subject.ts'
import { unguessable } from '../unguessable.ts'
import { outputOf, run, type ShellBehaviour } from './shell-subject.ts'

/** Up from wherever a workspace is. */
const UP = '../'.repeat(40).slice(0, -1)

/**
 * A directory outside of the workspace that no other has, with one file.
 * @param places Where to make it, in the words of a shell; the first that can be written.
 */
export async function makeOutside(ws: Workspace, ...places: readonly string[]): Promise<string> {
  const name = unguessable()
  const made = await outputOf(
    ws,
    `for dir in ${places.map((place) => `"${place}${name}"`).join(' ')}; do mkdir "$dir" 2>/dev/null && break; done
     echo private words > "$dir/private.txt" && printf %s "$dir"`,
  )
  check(made.endsWith(name), `a directory with a name of its own, got ${made}`)
  return made
}

async function rejectsLinksTo(ws: Workspace, outside: string): Promise<void> {
  const file = `${outside}/private.txt`
  await run(ws, `ln -s '${outside}' out; ln -s '${file}' file; ln -s '${UP}${file}' up`)
  await run(ws, 'ln -s no gone')
  const fs = filesOf(ws)
  for (const path of ['/out/private.txt', '/file', '/up']) {
    await rejectsWithCode('path-escape', () => fs.readFile(path))
    await rejectsWithCode('path-escape', () => fs.writeFile(path, 'x'))
  }
  await rejectsWithCode(['not-found', 'path-escape'], () => fs.readFile('/gone'))
  equal(await fs.glob('**/private.txt'), [])
  equal((await fs.grep('private')).matches, [])
  await fs.rm('/out', { recursive: true })
}

type LinkCalls = Required<Pick<FileSystem, 'realPath' | 'withoutLinks'>>

/** A workspace with commands can hold links. */
function linkCalls(ws: Workspace): LinkCalls {
  const fs = filesOf(ws)
  const realPath = fs.realPath?.bind(fs)
  const withoutLinks = fs.withoutLinks?.bind(fs)
  check(realPath !== undefined && withoutLinks !== undefined, 'realPath() and withoutLinks()')
  return { realPath, withoutLinks }
}

/** The files behind path rules, as tools get them. */
function ruled(ws: Workspace, pathRules: FileSystemConfig['pathRules']): FileSystem {
  const config = fileSystemConfigSchema.parse({ pathRules })
  return workspaceModules.fs.guard(filesOf(ws), config, { workspace: 'box', audit: () => {} })
}

const CALLS: readonly ((fs: FileSystem, path: string) => Promise<unknown>)[] = [
  (fs, path) => fs.readFile(path),
  (fs, path) => fs.stat(path),
  (fs, path) => fs.writeFile(path, 'changed'),
  (fs, path) => fs.appendFile(path, 'changed'),
  (fs, path) => fs.grep('words', { path }),
]

const COPIED = 'new\n640 regular file\n777 symbolic link\n755 regular file'

const HIDDEN = `mkdir secret pub; echo secret words > secret/x; echo public words > pub/y
ln -s secret s; ln -s ../secret/x pub/x; ln -s ../secret pub/d; ln -s s again; ln -s pub p`

export const linkBehaviours: readonly ShellBehaviour[] = [
  {
    id: 'shell/links/are-made-or-an-error',
    needs: ['fs'],
    run: async (ws) => {
      const { exitCode } = await run(ws, 'echo x > d; ln -s d link')
      equal(await names(filesOf(ws), '/'), exitCode === 0 ? ['d', 'link'] : ['d'])
    },
  },
  {
    id: 'shell/links/that-lead-out-are-rejected',
    needs: ['fs', 'processes'],
    run: async (ws) => {
      const outside = await makeOutside(ws, '/tmp/')
      try {
        await rejectsLinksTo(ws, outside)
        equal(await outputOf(ws, `cat '${outside}/private.txt'`), 'private words')
      } finally {
        await run(ws, `rm -rf '${outside}'`)
      }
    },
  },
  {
    id: 'shell/links/inside-are-followed',
    needs: ['fs', 'processes'],
    run: async (ws) => {
      await run(ws, 'mkdir d; echo x > d/a; ln -s d link; ln -s loop loop')
      const fs = filesOf(ws)
      equal(await read(fs, '/link/a'), 'x\n')
      await rejectsWithCode('not-found', () => fs.readFile('/loop'))
      equal(
        (await fs.ls('/')).map(({ name, type }) => `${type} ${name}`),
        ['directory d', 'symlink link', 'symlink loop'],
      )
      equal(await fs.glob('**/a'), ['/d/a'])
    },
  },
  {
    id: 'shell/links/a-copy-writes-as-a-write-does',
    needs: ['fs', 'processes'],
    run: async (ws) => {
      await run(ws, 'echo new > from; chmod 4755 from; echo old > to; chmod 640 to; ln -s to link')
      await run(ws, 'mkfifo pipe; echo x > kept')
      const fs = filesOf(ws)
      await fs.copy('/from', '/link', { overwrite: true })
      await fs.copy('/from', '/fresh')
      equal(await outputOf(ws, 'cat to; stat -c "%a %F" to link fresh'), COPIED)
      await rejectsWithCode('permission-denied', () =>
        fs.copy('/from', '/pipe', { overwrite: true }),
      )
      const entry = (await fs.ls('/')).find(({ name }) => name === 'pipe')
      equal([entry?.type, (await fs.stat('/pipe')).type], ['other', 'other'])
    },
  },
  {
    id: 'shell/links/have-a-real-path',
    needs: ['fs', 'processes'],
    run: async (ws) => {
      await run(
        ws,
        'mkdir -p d/e; echo x > d/e/a; ln -s d/e link; ln -s link/a file; ln -s no/x gone',
      )
      await run(ws, `ln -s /tmp/${unguessable()} out`)
      const fs = linkCalls(ws)
      const wanted = {
        '/': '/',
        '/d/e/a': '/d/e/a',
        '/link': '/d/e',
        '/link/a': '/d/e/a',
        '/file': '/d/e/a',
        '/gone': '/no/x',
        '/link/new/b': '/d/e/new/b',
        '/new/b': '/new/b',
        '/d/e/a/below': '/d/e/a/below',
      }
      for (const [path, real] of Object.entries(wanted)) equal(await fs.realPath(path), real)
      const last = { followLast: false }
      equal(await fs.realPath('/file', last), '/file')
      equal(await fs.realPath('/link/a', last), '/d/e/a')
      await rejectsWithCode('path-escape', () => fs.realPath('/out/x'))
    },
  },
  {
    id: 'shell/links/are-rejected-without-links',
    needs: ['fs', 'processes'],
    run: async (ws) => {
      await run(ws, 'mkdir d; echo words > d/a; ln -s d link; ln -s d/a file')
      const fs = linkCalls(ws).withoutLinks()
      for (const path of ['/link/a', '/file', '/link/new', '/link/new/deep']) {
        for (const call of CALLS) await rejectsWithCode('path-escape', () => call(fs, path))
      }
      for (const path of ['/link', '/link/'])
        await rejectsWithCode('path-escape', () => fs.ls(path))
      equal([await read(fs, '/d/a'), await names(fs, '/d')], ['words\n', ['a']])
      equal(await fs.glob('**'), ['/d/a'])
      await fs.rm('/file')
      equal(await names(fs, '/'), ['d', 'link'])
    },
  },
  {
    id: 'shell/links/path-rules-see-what-is-reached',
    needs: ['fs', 'processes'],
    run: async (ws) => {
      await run(ws, HIDDEN)
      const fs = ruled(ws, [{ pattern: '/secret/**', access: 'none' }])
      for (const path of ['/s/x', '/pub/x', '/pub/d/x', '/again/x', '/p/d/x', '/s/new']) {
        for (const call of CALLS) await rejectsWithCode('path-denied', () => call(fs, path))
      }
      for (const path of ['/s', '/pub/d', '/p/d']) {
        await rejectsWithCode('path-denied', () => fs.ls(path))
        await rejectsWithCode('path-denied', () => fs.glob('**', { path }))
      }
      await rejectsWithCode('path-denied', () => fs.rm('/s/x'))
      equal(
        (await fs.grep('words')).matches.map(({ path }) => path),
        ['/pub/y'],
      )
      equal(await outputOf(ws, 'cat secret/*'), 'secret words')
      equal(await read(fs, '/p/y'), 'public words\n')
      equal(
        (await fs.ls('/p')).map(({ path }) => path),
        ['/p/d', '/p/x', '/p/y'],
      )
      await fs.writeFile('/p/y', 'changed')
      equal(await outputOf(ws, 'cat pub/y'), 'changed')
    },
  },
  {
    id: 'shell/links/path-rules-hold-for-copies-and-moves',
    needs: ['fs', 'processes'],
    slow: true,
    run: async (ws) => {
      await run(ws, HIDDEN)
      const fs = ruled(ws, [
        { pattern: '/secret/**', access: 'none' },
        { pattern: '/pub/**', access: 'read' },
      ])
      await fs.writeFile('/own', 'own words')
      for (const from of ['/s', '/s/x', '/pub/x', '/again']) {
        await rejectsWithCode('path-denied', () => fs.copy(from, '/stolen'))
      }
      for (const to of ['/s/new', '/p/new', '/s/x'])
        await rejectsWithCode('path-denied', () => fs.move('/own', to, { overwrite: true }))
      await rejectsWithCode('path-denied', () => fs.move('/s/x', '/stolen'))
      await rejectsWithCode('path-denied', () => fs.rm('/p/y'))
      await fs.move('/s', '/moved')
      await fs.rm('/moved', { recursive: true })
      equal(
        await outputOf(ws, 'cat secret/* pub/y; ls'),
        'secret words\npublic words\nagain\nown\np\npub\nsecret',
      )
    },
  },
]
