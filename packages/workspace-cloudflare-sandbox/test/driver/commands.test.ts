import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { SandboxTestbed } from '@helix-agents/sandbox-testbed'
import type { DriverProcess, DriverProcessOutput } from '../../src/driver/processes.ts'
import type { EnsureOutcome, ExecOutcome } from '../../src/driver/port.ts'
import { whyNoTestbed } from './worker/availability.ts'
import { drive, ENSURE, line, startDriverTestbed, valueOf } from './worker/drive.ts'
import type { Step, StepResult } from './worker/worker.ts'

const reason = await whyNoTestbed()
const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)
const outcome = (result: StepResult | undefined): ExecOutcome => {
  if (result?.error !== undefined) throw new Error(JSON.stringify(result.error))
  return result?.value as ExecOutcome
}
const stdout = (result: StepResult | undefined): string => text(outcome(result).stdout.bytes)
const HEARTBEAT = 'while :; do echo x >> beat; sleep 0.02; done'
const STOPPED = line('wc -c < beat; sleep 0.2; wc -c < beat')

function start(command: string, more = {}): Step {
  return {
    call: 'processes.start',
    args: [['bash', '-c', command], { cwd: '/workspace', ...more }],
  }
}

function expectStopped(result: StepResult | undefined): void {
  const [before, after] = stdout(result).split('\n')
  expect(Number(before)).toBeGreaterThan(0)
  expect(after).toBe(before)
}

describe.skipIf(reason !== undefined)('commands', { concurrent: true }, () => {
  let testbed: SandboxTestbed
  const at = (sandbox: string, ...steps: Step[]): Promise<readonly StepResult[]> =>
    drive(testbed, sandbox, [ENSURE, ...steps]).then((results) => results.slice(1))
  /** Many times what a command takes that does nothing, also on a busy machine. */
  const begunMs = async (sandbox: string): Promise<number> => {
    const [ran] = await at(sandbox, line('true'))
    return 1000 + 10 * (ran?.tookMs ?? 0)
  }
  beforeAll(async () => void (testbed = await startDriverTestbed()), 180_000)
  afterAll(() => testbed.stop())

  it('get arguments, environment and directory as given', async () => {
    const words = ['', 'a  b', "it's", '"q"', '\\', 'new\nline', '-n', '$HOME', '`id`', 'zß水🍌']
    const env = { VALUE: 'a "b" $HOME `id`\n\'c\'', OTHER: '' }
    const options = {
      cwd: '/workspace/a b',
      maxOutputBytes: 1000,
      spillDirectory: '/workspace/.helix',
    }
    const results = await drive(
      testbed,
      'a',
      [
        ENSURE,
        line('mkdir "a b"'),
        { call: 'exec', args: [['printf', '[%s]', ...words], options] },
        {
          call: 'exec',
          args: [
            ['bash', '-c', 'printf "%s|%s|%s" "$VALUE" "$OTHER" "$GIVEN"; pwd'],
            { ...options, env },
          ],
        },
        { call: 'exec', args: [['no-such-program'], options] },
        line('env -0 | tr "\\0" "\\n" | grep -E "^(n|k|o|e|t0|OLDPWD|epoch|SHLVL)="'),
      ],
      { env: { GIVEN: 'of the sandbox', OTHER: 'hidden' } },
    )
    expect(stdout(results[2])).toBe(words.map((word) => `[${word}]`).join(''))
    expect(stdout(results[3])).toBe(`${env.VALUE}||of the sandbox/workspace/a b\n`)
    expect(outcome(results[4]).exitCode).toBe(127)
    expect(stdout(results[5])).toMatch(/^SHLVL=\d\n$/)
  })

  it('of any length run', async () => {
    const long = `cat <<'EOF' | wc -c\n${'y'.repeat(126_000)}\nEOF`
    const quoted = `echo ${"'x'".repeat(30_000)} | wc -c`
    const results = await at('long', line(long), line(quoted))
    expect(results.map(stdout)).toEqual(['126001\n', '30001\n'])
    expect(results[0]?.trips).toEqual(['writeFile', 'exec'])
  })

  it('are ended at their time with all that they started', async () => {
    const left = [
      ['a child in the background', `(${HEARTBEAT}) & sleep 60`],
      ['an orphan', `( (${HEARTBEAT}) & ); sleep 60`],
      ['a child that holds the output', `(${HEARTBEAT}; echo never) & wait`],
      ['what ignores a polite signal', `trap '' TERM INT HUP; ${HEARTBEAT}`],
      ['a session of its own', `setsid bash -c '${HEARTBEAT}' & sleep 60`],
      ['a stopped one', `(${HEARTBEAT}) & sleep 0.1; kill -STOP $$`],
    ] as const
    const timeoutMs = await begunMs('b')
    const steps = left.flatMap(([, command]) => [
      line(`rm -f beat; echo before; ${command}`, { timeoutMs }),
      STOPPED,
    ])
    const results = await at('b', ...steps)
    for (const [index, [what]] of left.entries()) {
      const [ran, stopped] = results.slice(2 * index)
      const { exitCode, timedOut, aborted, stdout: output } = outcome(ran)
      const end = [what, exitCode, timedOut, aborted, text(output.bytes)]
      expect(end).toEqual([what, 124, true, false, 'before\n'])
      expect(ran?.trips).toEqual(['exec'])
      expect(ran?.tookMs).toBeLessThan(50_000)
      expectStopped(stopped)
    }
  }, 180_000)

  it('leave nothing behind when they end', async () => {
    const lines = [
      `(${HEARTBEAT}) & sleep 0.1`,
      `setsid bash -c '${HEARTBEAT}' & sleep 0.1`,
      `set -m; ${HEARTBEAT} & sleep 0.1`,
    ]
    for (const command of lines) {
      const results = await at('c', line(`rm -f beat; ${command}`), STOPPED)
      expect(outcome(results[0]).exitCode).toBe(0)
      expectStopped(results[1])
    }
  }, 90_000)

  it('are ended by an abort, and keep their output', async () => {
    const abortAfterMs = await begunMs('d')
    const results = await at(
      'd',
      { ...line(`echo ready; (${HEARTBEAT}) & wait; exit 3`), abortAfterMs },
      STOPPED,
      { ...line('echo made > made'), abortAfterMs: 0 },
      line('ls made'),
    )
    const { exitCode, aborted, timedOut, stdout: output } = outcome(results[0])
    expect([exitCode === 0, aborted, timedOut, text(output.bytes)]).toEqual([
      false,
      true,
      false,
      'ready\n',
    ])
    expect(results[0]?.trips).toEqual(['exec', 'exec'])
    expectStopped(results[1])
    expect([results[2]?.error?.['message'], results[2]?.trips]).toEqual(['stopped', []])
    expect(outcome(results[3]).exitCode).toBe(2)
  }, 90_000)

  it('survive whoever kills the shells around them', async () => {
    const results = await at(
      'e',
      line('echo out; echo err >&2; pkill -9 bash; sleep 5'),
      line('echo out; pkill bash; echo never'),
      line('echo fine'),
    )
    expect([outcome(results[0]).exitCode, stdout(results[0])]).toEqual([137, 'out\n'])
    expect(outcome(results[1]).exitCode).not.toBe(0)
    expect(stdout(results[2])).toBe('fine\n')
  }, 90_000)

  it('are heard while they run, byte by byte, one piece at a time', async () => {
    const listen = { takesMs: 5 }
    const results = await at(
      'f',
      {
        ...line("printf '\\346'; sleep 0.2; printf '\\260\\264\\000\\377'; echo e >&2; exit 3"),
        listen,
      },
      {
        ...line('for n in 1 2 3 4; do head -c 100000 /dev/zero; sleep 0.05; done', {
          maxOutputBytes: 500_000,
        }),
        listen,
      },
      { ...line('seq 1 200000', { maxOutputBytes: 1000 }), listen },
      {
        ...line('echo ready; sleep 0.2; echo beating; sleep 60'),
        listen: { takesMs: 0, abortAtText: 'beating' },
      },
      { ...line('echo quick'), listen },
    )
    const pieces = results.map((result) => result.pieces)
    expect(outcome(results[0]).exitCode).toBe(3)
    expect([pieces[0]?.stdout, pieces[0]?.stderr]).toEqual(['\xe6\xb0\xb4\x00\xff', 'e\n'])
    expect([pieces[1]?.stdout.length, pieces[1]?.atOnce]).toEqual([400_000, 1])
    expect(pieces[2]?.stdout).toBe(Array.from({ length: 200_000 }, (_, n) => `${n + 1}\n`).join(''))
    expect([outcome(results[3]).aborted, pieces[3]?.stdout]).toEqual([true, 'ready\nbeating\n'])
    expect(pieces[4]?.stdout).toBe('quick\n')
  }, 90_000)

  it('wait for a slow listener', async () => {
    const command = 'for n in {1..60}; do head -c 1000000 /dev/zero; echo $n >> count; done'
    const slow = {
      ...line(command, { timeoutMs: 1500, maxOutputBytes: 1000 }),
      listen: { takesMs: 100 },
    }
    const results = await at('g', slow, line('wc -l < count'))
    expect(outcome(results[0]).timedOut).toBe(true)
    expect(Number(stdout(results[1]))).toBeLessThan(40)
  }, 90_000)

  it('run side by side without mixing', async () => {
    const steps = ['a', 'b', 'c', 'd', 'e', 'f'].map((letter) =>
      line(`for i in {1..200}; do echo ${letter.repeat(40)}; done`),
    )
    const results = await drive(testbed, 'h', steps, { parallel: true })
    for (const result of results) expect(new Set(stdout(result).trimEnd().split('\n')).size).toBe(1)
  }, 90_000)

  it('in the background outlive the call', async () => {
    const [one, two, three, list] = await at(
      'i',
      start('echo begun; sleep 60'),
      start('printf abcdef; printf 123 >&2; exit 5'),
      start(`( (${HEARTBEAT}) & ); sleep 60`, { title: 'the third' }),
      { call: 'processes.list' },
    )
    const ids = [one, two, three].map((result) => valueOf<DriverProcess>(result).id)
    expect(valueOf<DriverProcess[]>(list).map(({ id }) => id)).toEqual(ids)
    expect(valueOf<DriverProcess>(three).command).toBe('the third')
    const output = (index: number, from = { stdoutOffset: 0, stderrOffset: 0 }): Step => ({
      call: 'processes.output',
      args: [ids[index], from],
    })
    const kill: Step = { call: 'processes.kill', args: [ids[2]] }
    const results = await at(
      'i',
      line('sleep 0.2'),
      output(0),
      output(1),
      output(1, { stdoutOffset: 4, stderrOffset: 3 }),
      kill,
      STOPPED,
      output(2),
      kill,
      { call: 'processes.output', args: ['none', { stdoutOffset: 0, stderrOffset: 0 }] },
      { call: 'processes.kill', args: ['0000'] },
    )
    const outputs = results.slice(1, 4).map((result) => {
      const { stdout: out, stderr, process, ...next } = valueOf<DriverProcessOutput>(result)
      return [text(out), text(stderr), process.exitCode, next.nextStdoutOffset]
    })
    expect(outputs).toEqual([
      ['begun\n', '', undefined, 6],
      ['abcdef', '123', 5, 6],
      ['ef', '', 5, 6],
    ])
    expectStopped(results[5])
    expect(valueOf<DriverProcessOutput>(results[6]).process).toMatchObject({
      state: 'exited',
      exitCode: 143,
    })
    expect(results.slice(8).map(({ error }) => error?.['code'])).toEqual([
      'process-missing',
      'process-missing',
    ])
    for (const { trips } of results) expect(trips.length).toBe(trips.length === 0 ? 0 : 1)
  }, 90_000)

  it('name their container', async () => {
    const [ensured, ran] = await drive(testbed, 'j', [ENSURE, line('true')])
    expect(outcome(ran).epoch).toBe(valueOf<EnsureOutcome>(ensured).epoch)
  })
})
