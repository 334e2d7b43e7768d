// A model, or a program that it runs, that lays hands on what is ours in the container: nothing may
// hang, lie, or break the session for good.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { availability, Bench, codeOf, type RemoteWorkspace, skipNote } from '../testbed/bench.ts'

const SCRATCH = '/var/tmp/.helix'
const HANG_MS = 60_000

/** What a registry does: resolves what was evicted, and tries once more. */
async function insist(ws: RemoteWorkspace, method: string, ...given: readonly unknown[]) {
  const first = await codeOf(ws.call(method, ...given))
  if (first !== 'evicted') return first
  const { receipt } = await ws.resolve()
  const second = await codeOf(ws.call(method, ...given))
  return `${receipt.outcome}, ${second}`
}

const FINE = ['no error', 'reattached, no error']

describe.skipIf(!availability.available)(`in workerd${skipNote}`, () => {
  let bench: Bench
  beforeAll(async () => void (bench = await Bench.start()), 180_000)
  afterAll(() => bench?.testbed.stop(), 180_000)

  describe('the files of the driver', () => {
    test.each([
      ['removed', `rm -rf ${SCRATCH}`],
      ['a file', `rm -rf ${SCRATCH}; touch ${SCRATCH}`],
      ['a link to nowhere', `rm -rf ${SCRATCH}; ln -s /nowhere ${SCRATCH}`],
      ['a link to the workspace', `rm -rf ${SCRATCH}; ln -s /workspace ${SCRATCH}`],
      ['not writable', `chmod 0 ${SCRATCH}`],
      ['an epoch that is a pipe', `rm ${SCRATCH}/epoch; mkfifo ${SCRATCH}/epoch`],
      ['an epoch that is a device', `rm ${SCRATCH}/epoch; ln -s /dev/zero ${SCRATCH}/epoch`],
      ['an epoch of words', `echo 'a b; exit 3' > ${SCRATCH}/epoch`],
      ['a huge epoch', `head -c 5000000 /dev/zero | tr '\\0' x > ${SCRATCH}/epoch`],
      ['an epoch that is a directory', `rm ${SCRATCH}/epoch; mkdir ${SCRATCH}/epoch`],
      ['outputs that are pipes', `cd ${SCRATCH}; for f in s-*; do rm $f; mkfifo $f; done`],
      ['outputs that are directories', `cd ${SCRATCH}; for f in s-*; do rm $f; mkdir $f; done`],
      ['outputs that are links', `cd ${SCRATCH}; for f in s-*; do ln -sf /workspace/kept $f; done`],
      ['a lock that is held', `flock ${SCRATCH} sleep 200 & sleep 0.1`],
      ['a process that is none', `mkdir '${SCRATCH}/p-a b'; mkfifo '${SCRATCH}/p-a b/pid'`],
      ['a process of pipes', `mkdir ${SCRATCH}/p-ff; cd ${SCRATCH}/p-ff; mkfifo pid command exit`],
    ])(
      '%s',
      async (name, command) => {
        const ws = await bench.open(`tampered-${name.replaceAll(' ', '-')}`)
        await ws.call('fs.writeFile', '/kept', 'kept')
        await ws.output('true')
        const { ref } = ws.opened!
        await codeOf(ws.call('shell.run', command))
        const startedAt = performance.now()
        expect(FINE).toContain(await insist(ws, 'shell.run', 'echo x'))
        expect(FINE).toContain(await insist(ws, 'shell.list'))
        expect(FINE).toContain(await insist(ws, 'fs.writeFile', '/new', 'x'))
        expect(FINE).toContain(await insist(ws, 'fs.appendFile', '/new', 'y'))
        expect(await ws.call('fs.readFile', '/kept')).toBe('kept')
        expect(await ws.output('cat new; echo; echo x')).toBe('xy\nx')
        expect(performance.now() - startedAt).toBeLessThan(HANG_MS)
        expect((await ws.resolve(ref)).receipt.outcome).toBe('reattached')
      },
      120_000,
    )
  })

  test('what a command prints that removes its own outputs is kept', async () => {
    const ws = await bench.open('removes-outputs')
    const remove = 'echo before; rm -rf /var/tmp; echo after; echo err >&2'
    const told = { stdout: 'before\nafter\n', stderr: 'err\n', exitCode: 0 }
    expect(await ws.call('shell.run', remove)).toMatchObject(told)
    // The mark of the container was in it too.
    await ws.resolve()
    const long = `${remove}; head -c 2000000 /dev/zero | tr '\\0' x`
    const { stdoutCut } = await ws.call<{ stdoutCut: { path: string } }>('shell.run', long)
    await ws.resolve()
    expect(await ws.output(`stat -c %s /workspace${stdoutCut.path}`)).toBe('2000013')
    const live = await ws.call<{ stdout: string }>('shell.runLive', remove)
    expect(live.stdout).toBe('before\nafter\n')
    await ws.resolve()
    const code = 'import os; print("before"); os.system("rm -rf /var/tmp"); print("after"); 1'
    expect(await ws.call('code.runCode', 'python', code)).toMatchObject({
      exitCode: 0,
      outputs: [{ type: 'stdout' }, { type: 'result', value: '1' }],
    })
    await ws.resolve()
    expect(await ws.output('echo on')).toBe('on')
  }, 90_000)

  test('answers cannot be forged by what a command prints', async () => {
    const ws = await bench.open('forged')
    const forged =
      'printf \'\\n%%%s ended 0 0 1 - plain 0 0 0 0 plain 0 0 0 0\\n\' "$HELIX_WS_PROCESS"'
    const command = `${forged}; ${forged} >&2; exit 7`
    expect(await ws.call('shell.run', command)).toMatchObject({ exitCode: 7 })
    await ws.call('fs.writeFile', '/a', '\n%0123456789abcdef fail escape\n')
    expect(await ws.call('fs.readFile', '/a')).toBe('\n%0123456789abcdef fail escape\n')
  }, 90_000)

  test('variables of a command reach nothing but the command', async () => {
    const ws = await bench.open('variables')
    const names = [
      'q',
      'd',
      'p',
      'n',
      'k',
      'o',
      'e',
      'r',
      's',
      'i',
      'epoch',
      'IFS',
      'PATH',
      'N',
      'R',
    ]
    const env = Object.fromEntries(names.map((name) => [name, `/nowhere/${name}`]))
    const script = 'echo "$q $d $p $n $k $o $e $r $s $i $epoch $PATH $N $R"'
    const told = names.filter((name) => name !== 'IFS').map((name) => `/nowhere/${name}`)
    const run = await ws.call('shell.run', ['/bin/bash', '-c', script], { env })
    expect(run).toMatchObject({ stdout: `${told.join(' ')}\n`, exitCode: 0 })
    const { id } = await ws.call<{ id: string }>('shell.start', ['/bin/bash', '-c', script], {
      env,
    })
    await expect
      .poll(() => ws.call('shell.output', id))
      .toMatchObject({ stdout: `${told.join(' ')}\n`, process: { state: 'exited', exitCode: 0 } })
  }, 90_000)
})
