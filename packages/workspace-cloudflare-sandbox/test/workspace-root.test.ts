// What becomes of a sandbox when somebody removes or replaces `/workspace` itself.
import { TestSampler } from '@helix-agents/core/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { availability, Bench, codeOf, skipNote } from './testbed/bench.ts'
import type { Reproduction } from './worker/removal-reproduction.ts'

const sampler = new TestSampler()
/** Images, each with a test bed of its own, and operations: of a sample. */
const SAMPLED_IMAGES = 1
const SAMPLED_OPERATIONS = 4

const OUTSIDE = '/tmp/elsewhere'
const replace = (command: string): string => `cd / && rm -rf /workspace && ${command}`

const keptHint = (name: string): object => ({
  code: 'working-directory-missing',
  told: { hint: expect.stringContaining(`moved to ${name},`) },
})

describe.skipIf(!availability.available)(`the reproduction of the removal issue${skipNote}`, () => {
  const images = [
    ['interpreters that were started ahead', { image: 'python' }],
    ['interpreters that start when they are needed', { image: 'python', interpretersAhead: 0 }],
    ['no IPython', { image: 'plain-python' }],
  ] as const
  test.each(sampler.pick('images', images, SAMPLED_IMAGES))(
    'finds no bug in an image with %s',
    async (_, image) => {
      await using own = await Bench.start('local', undefined, image)
      const ws = await own.open('reproduction')
      const { results, bugPresent } = await ws.call<Reproduction>('reproduceRemoval')
      expect(Object.entries(results).filter(([, { ok }]) => !ok)).toEqual([])
      expect(bugPresent).toBe(false)
      expect(results.after_removal?.output).toBe('after removal\n')
      expect(results.read_through_link?.output).toBe('kept\n')
    },
    120_000,
  )
})

describe.skipIf(!availability.available)(`in workerd${skipNote}`, () => {
  let bench: Bench
  beforeAll(async () => void (bench = await Bench.start()), 180_000)
  afterAll(() => bench?.testbed.stop(), 180_000)

  test('removed: it is made again by whatever comes next', async () => {
    const ws = await bench.open('removed')
    for (const next of ['shell.run', 'fs.ls', 'fs.glob', 'fs.grep', 'fs.mkdir'] as const) {
      await ws.call('shell.run', 'rm -rf /workspace')
      const given = {
        'shell.run': 'pwd',
        'fs.ls': '/',
        'fs.glob': '**',
        'fs.grep': 'x',
        'fs.mkdir': '/d',
      }
      expect([next, await codeOf(ws.call(next, given[next]))]).toEqual([next, 'no error'])
    }
  }, 120_000)

  // Each kind of agent has its own tools only: each must find a way on with them.
  const operations = [
    ['shell.run', ['pwd']],
    ['shell.start', ['true']],
    ['code.runCode', ['python', '1']],
    ['code.runCode', ['javascript', '1']],
    ['code.createContext', ['typescript']],
    ['fs.ls', ['/']],
    ['fs.readFile', ['/a']],
    ['fs.writeFile', ['/a', 'x']],
    ['fs.writeStream', ['/a', 'x']],
    ['fs.copy', ['/a', '/b']],
    ['snapshot.snapshot', []],
  ] as const
  test.each(sampler.pick('operations', operations, SAMPLED_OPERATIONS))(
    'a file in its place, met by %s: told once, kept, and gone on',
    async (method, given) => {
      const config = { backupR2Binding: 'BACKUP_BUCKET' } as const
      const ws = await bench.open(
        `file-${`${method}-${given.join('-')}`.replaceAll(/[^a-z]+/gi, '-')}`,
        { config },
      )
      await ws.call('shell.run', replace('echo precious > /workspace'))
      await expect(ws.call(method, ...given)).rejects.toMatchObject(keptHint('/workspace.1'))
      expect(['no error', 'not-found']).toContain(await codeOf(ws.call(method, ...given)))
      expect(await ws.output('cat /workspace.1; pwd')).toBe('precious\n/workspace')
    },
    120_000,
  )

  test('a file in its place again: nothing is overwritten', async () => {
    const ws = await bench.open('files')
    for (const round of [1, 2, 3]) {
      await ws.call('shell.run', replace(`echo ${round} > /workspace`))
      await expect(ws.call('fs.ls', '/')).rejects.toMatchObject(keptHint(`/workspace.${round}`))
    }
    expect(await ws.output('cat /workspace.*')).toBe('1\n2\n3')
  }, 120_000)

  test('a dangling link: the same, the link is kept', async () => {
    const ws = await bench.open('dangling')
    await ws.call('shell.run', replace('ln -s /nowhere/at/all /workspace'))
    await expect(ws.call('shell.run', 'pwd')).rejects.toMatchObject(keptHint('/workspace.1'))
    expect(await ws.output('pwd; readlink /workspace.1')).toBe('/workspace\n/nowhere/at/all')
  }, 120_000)

  test('a file in its place, and the workspace is emptied: it is a directory', async () => {
    const ws = await bench.open('emptied')
    await ws.call('shell.run', replace('echo precious > /workspace'))
    await ws.call('fs.rm', '/', { recursive: true })
    expect(await ws.call('fs.ls', '/')).toEqual([])
  }, 120_000)

  test('a link to a directory: files stay reachable, links below stay contained', async () => {
    const config = { backupR2Binding: 'BACKUP_BUCKET' } as const
    const ws = await bench.open('link', { config })
    await ws.call('fs.writeFile', '/kept', 'kept')
    const move = `cd / && mv /workspace ${OUTSIDE} && ln -s ${OUTSIDE} /workspace`
    await ws.call('shell.run', move)
    expect(await ws.output('echo x > a; cat a kept')).toBe('x\nkept')
    expect(await ws.call('fs.readFile', '/a')).toBe('x\n')
    await ws.call('fs.writeFile', '/d/b', 'b')
    const large = 'y'.repeat(3_000_000)
    await ws.call('fs.writeFile', '/large', large)
    expect(await ws.call('fs.readFile', '/large')).toBe(large)
    await ws.call('fs.copy', '/d/b', '/c')
    await ws.call('fs.move', '/c', '/m')
    await ws.call('fs.rm', '/large')
    expect(await ws.call('fs.glob', '**')).toEqual(['/a', '/d/b', '/kept', '/m'])
    expect(await ws.call('fs.grep', 'kept')).toMatchObject({ matches: [{ path: '/kept' }] })
    await ws.call('shell.run', 'ln -s / out; ln -s /workspace/a in; ln -s ../workspace up')
    expect(await codeOf(ws.call('fs.readFile', '/out/etc/passwd'))).toBe('path-escape')
    expect(await codeOf(ws.call('fs.writeFile', '/up/../../x', 'x'))).toBe('path-escape')
    expect(await ws.call('fs.readFile', '/in')).toBe('x\n')
    const snapshot = await ws.call('snapshot.snapshot')
    const fork = await ws.call('snapshot.branch', snapshot)
    await ws.call('fs.rm', '/', { recursive: true })
    expect(await ws.call('fs.ls', '/')).toEqual([])
    expect(await ws.output('readlink /workspace')).toBe(OUTSIDE)
    await ws.resolve(fork)
    expect(await ws.output('ls')).toBe('a\nd\nin\nkept\nm\nout\nup')
  }, 120_000)

  test('gone, and only code is run: it is made again', async () => {
    const ws = await bench.open('code')
    const code = 'import shutil, os; shutil.rmtree("/workspace"); print(1)'
    await ws.call('code.runCode', 'python', code)
    for (const language of ['python', 'javascript', 'typescript']) {
      await ws.call('shell.run', 'rm -rf /workspace')
      expect(await ws.call('code.runCode', language, '1 + 1')).toMatchObject({ exitCode: 0 })
    }
  }, 120_000)

  test('in each of its states, code and contexts find it or say what to do', async () => {
    const ws = await bench.open('states')
    const context = await ws.call<string>('code.createContext', 'python')
    const other = await ws.call<string>('code.createContext', 'javascript')
    const write = async (): Promise<void> => {
      const python = 'open("made", "a").write("p")\nNone'
      const javascript = 'require("node:fs").appendFileSync("made", "j")'
      await ws.call('code.runCode', 'python', python)
      await ws.call('code.runCode', 'javascript', javascript)
      await ws.call('code.runInContext', context, python)
      await ws.call('code.runInContext', other, javascript)
      expect(await ws.call('fs.readFile', '/made')).toBe('pjpj')
      await ws.call('fs.rm', '/made')
    }
    await write()
    await ws.call('shell.run', 'rm -rf /workspace')
    await write()
    await ws.call('shell.run', replace('mkdir /workspace'))
    await write()
    await ws.call('shell.run', replace('mkdir /tmp/linked; ln -s /tmp/linked /workspace'))
    await write()
    for (const [state, index] of [
      ['touch /workspace', 1],
      ['ln -s /nowhere /workspace', 2],
    ] as const) {
      await ws.call('shell.run', replace(state))
      const met = ws.call('code.runInContext', context, '1')
      await expect(met).rejects.toMatchObject(keptHint(`/workspace.${index}`))
      await write()
    }
  }, 120_000)

  test('made again: it is used as it is', async () => {
    const ws = await bench.open('again')
    await ws.call('shell.run', replace('mkdir /workspace && echo x > /workspace/a'))
    expect(await ws.call('fs.readFile', '/a')).toBe('x\n')
    expect(await ws.output('cat a')).toBe('x')
  }, 120_000)

  test('a directory below that is gone is named, and can be made', async () => {
    const ws = await bench.open('below')
    const run = (): Promise<unknown> => ws.call('shell.run', 'pwd', { cwd: '/gone' })
    expect(await codeOf(run())).toBe('working-directory-missing')
    await ws.call('fs.mkdir', '/gone')
    expect(await run()).toMatchObject({ stdout: '/workspace/gone\n' })
  }, 120_000)
})
