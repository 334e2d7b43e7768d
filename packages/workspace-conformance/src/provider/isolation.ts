import { renderToolError, toToolError } from '@helix-agents/core/runtime'
import { check, equal, rejectionOf, rejectsWithCode, textOf } from '../assert.ts'
import { assertRootInside } from '../file-system/acts-inside.ts'
import { names, read, writeFiles } from '../file-system/files.ts'
import { PATH_CALLS } from '../file-system/paths.ts'
import { unguessable } from '../unguessable.ts'
import { aimAtDecoys } from './aim-at-decoys.ts'
import { type ProviderBehaviour } from './lifecycle.ts'
import { filesOf, type ProviderSubject } from './provider-subject.ts'

/** Its own environment, and that of every process that it sees. */
const SHOW_ENVIRONMENTS = 'env; set; cat /proc/self/environ /proc/[0-9]*/environ 2>/dev/null; true'

const otherSession = (subject: ProviderSubject): string => subject.session('of-another-tenant')

/** Every error that a model can easily provoke. */
async function provokeErrors(subject: ProviderSubject): Promise<unknown[]> {
  const { ref, ws } = await subject.open()
  const fs = filesOf(ws)
  await fs.writeFile('/d/a', 'x')
  const calls: (() => Promise<unknown>)[] = [
    () => fs.readFile('/missing'),
    () => fs.readFile('/d'),
    () => fs.writeFile('/d', 'x'),
    () => fs.writeFile('/d/a/b', 'x'),
    () => fs.writeFile('/d/a', 'x', { ifVersion: 'no such version' }),
    () => fs.ls('/d/a'),
    () => fs.rm('/d'),
    () => fs.mkdir('/d'),
    () => fs.copy('/d', '/d/e'),
    () => fs.move('/missing', '/e'),
    () => fs.readStream('/missing'),
    () => fs.readFile(`/../../${unguessable()}`),
    () => fs.stat('/a\u0000b'),
    () => fs.readFile(`/${'n'.repeat(300)}`),
    () => fs.grep('(unclosed'),
    () => fs.glob('*', { path: '/missing' }),
    () => subject.resolveForged({ ...ref, schemaVersion: ref.schemaVersion + 2 }),
    () => subject.resolveForged({ ...ref, ref: { forged: true } }),
  ]
  const errors: unknown[] = []
  for (const call of calls) errors.push(await rejectionOf(call))
  await ws.close()
  errors.push(await rejectionOf(() => fs.readFile('/d/a')))
  return errors
}

/** What may stand in no text that a model reads. */
function forbidden(subject: ProviderSubject): string[] {
  const { hostPaths = [], secrets = [] } = subject.harness
  return [...hostPaths, ...secrets, otherSession(subject), '\n    at ', 'node_modules', 'file://']
}

/** Clauses about what a workspace must not reach or show. */
export const isolationBehaviours: readonly ProviderBehaviour[] = [
  {
    id: 'isolation/level/is-declared',
    run: async (subject) => {
      const { ws } = await subject.open()
      check(['none', 'process', 'isolate', 'container'].includes(ws.isolation), 'a known level')
    },
  },
  {
    id: 'isolation/errors/are-for-the-model',
    needs: ['fs'],
    run: async (subject) => {
      await subject.open({ sessionId: otherSession(subject) })
      for (const error of await provokeErrors(subject)) {
        const shown = toToolError(error)
        check(shown.code !== 'internal', `a coded error, got ${String(error)}`)
        const text = renderToolError(shown)
        equal(
          forbidden(subject).filter((it) => text.includes(it)),
          [],
        )
      }
    },
  },
  {
    id: 'isolation/files/of-another-session-are-out-of-reach',
    needs: ['fs'],
    run: async (subject) => {
      const theirs = await subject.open({ sessionId: otherSession(subject) })
      await filesOf(theirs.ws).writeFile('/theirs.txt', 'private words')
      const mine = await subject.openFiles()
      equal(await mine.glob('**'), [])
      equal((await mine.grep('private')).matches, [])
      for (const path of [
        `/../${theirs.ws.id}/theirs.txt`,
        `../${otherSession(subject)}/theirs.txt`,
      ]) {
        await rejectsWithCode('path-escape', () => mine.readFile(path))
      }
      await rejectsWithCode('not-found', () => mine.readFile(`/${theirs.ws.id}/theirs.txt`))
      await assertRootInside(mine)
      await mine.rm('/', { recursive: true })
      equal(await read(filesOf(theirs.ws), '/theirs.txt'), 'private words')
    },
  },
  {
    id: 'isolation/files/beside-the-workspace-are-out-of-reach',
    needs: ['fs'],
    run: async (subject) => {
      const mine = await subject.open()
      const fs = filesOf(mine.ws)
      await writeFiles(fs, { '/source': 'x', '/d/a': 'x' })
      const target = await aimAtDecoys(subject, mine)
      for (const path of target.paths) {
        for (const call of PATH_CALLS) await rejectsWithCode('path-escape', () => call(fs, path))
      }
      await target.assertIntact()
      equal((await fs.grep(target.words, { mode: 'literal' })).matches, [])
      equal([await names(fs, '/'), await names(fs, '/d')], [['d', 'source'], ['a']])
    },
  },
  {
    id: 'isolation/commands/see-no-secret-of-the-host',
    needs: ['shell'],
    run: async (subject) => {
      const { secrets = [] } = subject.harness
      check(secrets.length > 0, 'createProvider() to plant a secret in the host')
      const { ws } = await subject.open()
      const result = await ws.shell?.run(SHOW_ENVIRONMENTS)
      const output = textOf(result?.stdout ?? new Uint8Array())
      check(output.includes('PATH='), 'an environment')
      equal(
        secrets.filter((secret) => output.includes(secret)),
        [],
      )
    },
  },
]
