// What a container is asked for by commands and background processes.
import { expect, test } from 'vitest'
import type { ExecOptions, ExecOutcome, SandboxDriver } from '../../src/driver/port.ts'
import type { DriverProcess } from '../../src/driver/processes.ts'
import {
  CloudflareSandboxShell,
  type ShellCalls,
} from '../../src/modules/shell/cloudflare-sandbox-shell.ts'

type OnPiece = (chunk: Uint8Array) => Promise<void>

const options = { defaultTimeoutMs: 100, maxOutputBytes: 50, endGraceMs: 7 }
const nothing = { bytes: new Uint8Array(), totalBytes: 0 }
const outcome: ExecOutcome = {
  exitCode: 0,
  stdout: nothing,
  stderr: nothing,
  timedOut: false,
  aborted: false,
  durationMs: 1,
  epoch: 'e',
}

const gone = new Error('the container is gone')
const running: DriverProcess = {
  id: 'a',
  pid: 1,
  command: 'x',
  state: 'running',
  startedAtMs: 1000,
}
const exited: DriverProcess = { ...running, id: 'b', state: 'exited', exitCode: 0 }
const printed = {
  stdout: new Uint8Array([1]),
  stderr: new Uint8Array([2]),
  nextStdoutOffset: 3,
  nextStderrOffset: 4,
}

/** A shell whose calls are recorded: each process that it starts has the next number. */
function recorded(
  exec = (_options: ExecOptions): Promise<ExecOutcome> => Promise.resolve(outcome),
) {
  const made: unknown[][] = []
  const calls: unknown[] = []
  const epochs: (string | null)[] = []
  let count = 0
  const processOf = (command: string): DriverProcess => {
    count += 1
    return { id: `p${count}`, pid: count, command, state: 'running', startedAtMs: 1 }
  }
  const driver = {
    exec: (argv: readonly string[], given: ExecOptions) => {
      made.push(['exec', argv, given])
      return exec(given)
    },
    processes: {
      start: (argv: readonly string[], given: unknown) => {
        made.push(['start', argv, given])
        return Promise.resolve(processOf(argv.join(' ')))
      },
      kill: async (id: string) => {
        await new Promise((resolve) => setImmediate(resolve))
        made.push(['kill', id])
        if (id === 'p2') throw gone
      },
      list: () => Promise.resolve([running, exited]),
      output: (...args: unknown[]) => {
        made.push(['output', ...args])
        return Promise.resolve({ ...printed, process: exited })
      },
    },
  } as unknown as SandboxDriver
  const sandbox: ShellCalls = {
    call: (run, given) => {
      calls.push(given)
      return run(driver)
    },
    assertEpoch: (epoch) => void epochs.push(epoch),
  }
  return { shell: new CloudflareSandboxShell(sandbox, options), made, calls, epochs }
}

test('a command has the directory, the variables, the time and the limits that it asks for', async () => {
  const { shell, made, calls, epochs } = recorded()
  const { signal } = new AbortController()
  await shell.run(['ls'], { cwd: '/a', env: { A: '1' }, timeoutMs: 5, maxOutputBytes: 6, signal })
  await shell.run(['ls'])
  expect(made).toEqual([
    [
      'exec',
      ['ls'],
      {
        cwd: '/workspace/a',
        env: { A: '1' },
        timeoutMs: 5,
        maxOutputBytes: 6,
        signal,
        spillDirectory: expect.any(String),
      },
    ],
    [
      'exec',
      ['ls'],
      {
        cwd: '/workspace',
        timeoutMs: 100,
        maxOutputBytes: 50,
        spillDirectory: expect.any(String),
      },
    ],
  ])
  expect(calls).toEqual([
    { path: '/a', timeoutMs: 12 },
    { path: '/', timeoutMs: 107 },
  ])
  expect(epochs).toEqual(['e', 'e'])
})

test('a listener gets each piece, and its errors end no command', async () => {
  const { shell, made } = recorded()
  const pieces: string[] = []
  const hear = (name: string) => (chunk: Uint8Array) => {
    pieces.push(`${name} ${chunk.length}`)
    if (chunk.length === 0) throw new Error('nothing')
  }
  await shell.run(['ls'], { onStdout: hear('stdout'), onStderr: hear('stderr') })
  const [, , given] = made[0] as [string, unknown, Record<'onStdout' | 'onStderr', OnPiece>]
  await given.onStdout(new Uint8Array(1))
  await given.onStderr(new Uint8Array(0))
  expect(pieces).toEqual(['stdout 1', 'stderr 0'])
})

test('a background process has its title, its directory and its variables, or none', async () => {
  const { shell, made } = recorded()
  await shell.start(['sleep', '9'], { cwd: '/a', env: { A: '1' } })
  await shell.start(['sleep', '9'])
  expect(made).toEqual([
    ['start', ['sleep', '9'], { cwd: '/workspace/a', title: 'sleep 9', env: { A: '1' } }],
    ['start', ['sleep', '9'], { cwd: '/workspace', title: 'sleep 9' }],
  ])
})

test('the end of a shell ends each process that it started and that was not ended, once', async () => {
  const { shell, made } = recorded()
  for (let count = 0; count < 3; count += 1) await shell.start(['sleep', '9'])
  await shell.kill('p1')
  made.length = 0
  await shell.endAll()
  await shell.endAll()
  expect(made).toEqual([
    ['kill', 'p2'],
    ['kill', 'p3'],
  ])
})

test('what a listener throws is in the result, and the next piece waits for it', async () => {
  const order: string[] = []
  const { shell } = recorded(async (given) => {
    await given.onStdout?.(new Uint8Array(1))
    order.push('heard')
    await given.onStderr?.(new Uint8Array(1))
    return outcome
  })
  const thrown = new Error('no')
  const result = await shell.run(['ls'], {
    onStdout: async () => {
      await new Promise((resolve) => setImmediate(resolve))
      order.push('hearing')
      throw thrown
    },
    onStderr: () => {
      // oxlint-disable-next-line typescript/only-throw-error -- what listeners may do
      throw 'text'
    },
  })
  expect(order).toEqual(['hearing', 'heard'])
  expect(result.callbackErrors).toEqual([thrown, new Error('text')])
  expect(result.callbackErrors?.[0]).toBe(thrown)
  expect(await recorded().shell.run(['ls'])).not.toHaveProperty('callbackErrors')
})

test('a listener keeps its own object, and no other is asked for', async () => {
  const { shell, made } = recorded(async (given) => {
    await given.onStdout?.(new Uint8Array(3))
    return outcome
  })
  const listener = {
    bytes: 0,
    onStdout(chunk: Uint8Array) {
      this.bytes += chunk.length
    },
  }
  await shell.run(['ls'], listener)
  expect(listener.bytes).toBe(3)
  expect(made[0]?.[2]).not.toHaveProperty('onStderr')
})

test('a command that cannot be run asks for nothing', async () => {
  const { shell, made } = recorded()
  const signal = AbortSignal.abort(new Error('stopped'))
  await expect(shell.run(['ls'], { signal })).rejects.toThrow('stopped')
  const invalid = { code: 'invalid-input' }
  for (const call of ['run', 'start'] as const) {
    await expect(shell[call]([])).rejects.toMatchObject(invalid)
    await expect(shell[call](['ls'], { env: { '1': '' } })).rejects.toMatchObject(invalid)
    await expect(shell[call](['ls'], { cwd: '/a\0' })).rejects.toMatchObject({
      code: 'invalid-path',
    })
  }
  expect(made).toEqual([])
})

test('a background process is told by its state, and by its exit code once it has one', async () => {
  const { shell, calls, made } = recorded()
  const told = { id: 'a', command: 'x', state: 'running', startedAt: new Date(1000) }
  const over = { ...told, id: 'b', state: 'exited', exitCode: 0 }
  expect(await shell.list()).toStrictEqual([told, over])
  expect(await shell.output('b')).toStrictEqual({ ...printed, process: over })
  await shell.output('b', { stdoutOffset: 5, stderrOffset: 6 })
  expect(made).toEqual([
    ['output', 'b', { stdoutOffset: 0, stderrOffset: 0 }],
    ['output', 'b', { stdoutOffset: 5, stderrOffset: 6 }],
  ])
  const started = { ...told, id: 'p1', command: 'sleep 9', startedAt: new Date(1) }
  expect(await shell.start(['sleep', '9'], { cwd: '/a' })).toStrictEqual(started)
  expect(calls.at(-1)).toEqual({ path: '/a' })
})

test('a process that could not be ended is ended again at the end', async () => {
  const { shell, made } = recorded()
  for (let count = 0; count < 2; count += 1) await shell.start(['sleep', '9'])
  await expect(shell.kill('p2')).rejects.toBe(gone)
  await shell.kill('p1')
  await shell.endAll()
  expect(made.slice(2)).toEqual([
    ['kill', 'p2'],
    ['kill', 'p1'],
    ['kill', 'p2'],
  ])
})
