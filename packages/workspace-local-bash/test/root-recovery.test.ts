import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import type { LocalBashWorkspace } from '@helix-agents/workspace-local-bash/parts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { TestHost, text } from './open-workspace.ts'

let host: TestHost
let ws: LocalBashWorkspace
let outside: string
beforeEach(async () => {
  host = new TestHost()
  ws = (await host.open()).ws
  outside = join(host.tmpdirRoot, 'outside')
  mkdirSync(outside)
  writeFileSync(join(outside, 'secret'), 'secret')
  await ws.fs.writeFile('/d/a', 'x')
})
afterEach(async () => host.dispose())

async function expectUsable(): Promise<void> {
  const result = await ws.shell.run('pwd; echo made > by-shell')
  expect([text(result.stdout), text(result.stderr), result.exitCode]).toEqual([
    `${ws.shellRoot}\n`,
    '',
    0,
  ])
  await ws.fs.writeFile('/by-fs', 'made')
  expect((await ws.fs.ls('/')).map((entry) => entry.name)).toEqual(['by-fs', 'by-shell'])
  expect(lstatSync(ws.shellRoot).isDirectory()).toBe(true)
  expect(readdirSync(outside)).toEqual(['secret'])
}

/** What a command may do to the directory it runs in. */
const DAMAGE: Readonly<Record<string, (root: string) => string>> = {
  removed: (root) => `rm -rf "${root}"`,
  'replaced by a file': (root) => `rm -rf "${root}"; echo file > "${root}"`,
  'replaced by a link': (root) => `rm -rf "${root}"; ln -s ${outside} "${root}"`,
  'replaced by a dangling link': (root) => `rm -rf "${root}"; ln -s /nowhere "${root}"`,
  'replaced by a link to itself': (root) => `rm -rf "${root}"; ln -s root "${root}"`,
  'replaced by a pipe': (root) => `rm -rf "${root}"; mkfifo "${root}"`,
  'moved away': (root) => `mv "${root}" "${root}.moved"`,
  'removed and made again': (root) => `rm -rf "${root}"; mkdir "${root}"`,
}

describe.each(Object.entries(DAMAGE))('a root that was %s', (_, damage) => {
  it('is usable by the next command', async () => {
    const { timedOut } = await ws.shell.run(damage(ws.shellRoot))
    expect(timedOut).toBe(false)
    await expectUsable()
  })
  it('never shows or changes what lies elsewhere', async () => {
    await ws.shell.run(damage(ws.shellRoot))
    await expect(ws.fs.readFile('/secret')).rejects.toMatchObject({ code: 'not-found' })
    await ws.fs.writeFile('/secret', 'own')
    expect(readFileSync(join(outside, 'secret'), 'utf8')).toBe('secret')
    expect(await ws.fs.glob('**')).toEqual(['/secret'])
  })
})

it('a working directory that is gone is named, and can be made again', async () => {
  await ws.shell.run('rm -rf d')
  await expect(ws.shell.run('pwd', { cwd: '/d' })).rejects.toMatchObject({
    code: 'working-directory-missing',
  })
  await ws.fs.mkdir('/d')
  expect(text((await ws.shell.run('pwd', { cwd: '/d' })).stdout)).toBe(`${ws.shellRoot}/d\n`)
})

it('a working directory that leads out is refused', async () => {
  symlinkSync(outside, join(ws.shellRoot, 'out'))
  await expect(ws.shell.run('pwd', { cwd: '/out' })).rejects.toMatchObject({ code: 'path-escape' })
})

it('removing everything, the framework part too, loses the workspace and says so', async () => {
  await ws.shell.run('rm -rf "$(dirname "$PWD")"')
  const lost = { code: 'lost', admitted: 'no' }
  await expect(ws.shell.run('true')).rejects.toMatchObject(lost)
  await expect(ws.fs.writeFile('/a', 'x')).rejects.toMatchObject(lost)
  await expect(ws.fs.readFile('/a')).rejects.toMatchObject(lost)
  expect(existsSync(dirname(ws.shellRoot))).toBe(false)
})

it('a removed scratch directory is made again', async () => {
  await ws.shell.run('rm -rf "$PWD/../scratch" "$TMPDIR"')
  await ws.fs.writeFile('/a', 'x')
  const { stdout } = await ws.shell.run('seq 1 1000; mktemp >&2', { maxOutputBytes: 10 })
  expect(stdout.length).toBe(10)
})

it('a workspace directory replaced by a link is lost, not followed', async () => {
  const directory = dirname(ws.shellRoot)
  mkdirSync(join(outside, 'root'))
  rmSync(directory, { recursive: true })
  symlinkSync(outside, directory)
  await expect(ws.fs.writeFile('/a', 'x')).rejects.toMatchObject({ code: 'lost' })
  await expect(ws.shell.run('true')).rejects.toMatchObject({ code: 'lost' })
  await ws.close()
  expect(readdirSync(outside).toSorted()).toEqual(['root', 'secret'])
})
