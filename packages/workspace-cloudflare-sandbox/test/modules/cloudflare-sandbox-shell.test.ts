// What a container is asked for by commands and background processes.
import { expect, test } from 'vitest'
import type { ExecOutcome, SandboxDriver } from '../../src/driver/port.ts'
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

/** A shell whose calls are recorded: each process that it starts has the next number. */
function recorded() {
  const made: unknown[][] = []
  const calls: unknown[] = []
  const epochs: (string | null)[] = []
  let count = 0
  const processOf = (command: string): DriverProcess => {
    count += 1
    return { id: `p${count}`, pid: count, command, state: 'running', startedAtMs: 1 }
  }
  const driver = {
    exec: (...args: unknown[]) => {
      made.push(['exec', ...args])
      return Promise.resolve(outcome)
    },
    processes: {
      start: (argv: readonly string[], given: unknown) => {
        made.push(['start', argv, given])
        return Promise.resolve(processOf(argv.join(' ')))
      },
      kill: (id: string) => {
        made.push(['kill', id])
        return id === 'p2' ? Promise.reject(new Error('the container is gone')) : Promise.resolve()
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
