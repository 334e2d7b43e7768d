// What a container is asked for by code, and what its answers are to the caller.
import { expect, test } from 'vitest'
import type { DriverCodeOutcome, SandboxDriver } from '../../../src/driver/port.ts'
import {
  type CodeCalls,
  CloudflareSandboxCodeInterpreter,
} from '../../../src/modules/code/cloudflare-sandbox-code-interpreter.ts'

const options = { defaultTimeoutMs: 100, maxOutputBytes: 50, endGraceMs: 7 }
const done: DriverCodeOutcome = {
  outputs: [{ type: 'stdout', data: new Uint8Array([1]) }],
  exitCode: 0,
  timedOut: false,
  aborted: false,
  epoch: 'e',
}

/** Interpreters whose calls are recorded: each context has the next number. */
function recorded(outcome: DriverCodeOutcome = done, idOf = (count: number) => `c${count}`) {
  const made: unknown[][] = []
  const calls: unknown[] = []
  const epochs: (string | null)[] = []
  let count = 0
  const record =
    <T>(name: string, answer: () => Promise<T>) =>
    (...args: unknown[]): Promise<T> => {
      made.push([name, ...args])
      return answer()
    }
  const code = {
    runOnce: record('runOnce', () => Promise.resolve(outcome)),
    run: record('run', () => Promise.resolve(outcome)),
    remove: record('remove', async () => {
      await new Promise((resolve) => setImmediate(resolve))
      made.push(['removed'])
    }),
    create: record('create', () => {
      count += 1
      return Promise.resolve(idOf(count))
    }),
  }
  const sandbox: CodeCalls = {
    call: (run, given) => {
      calls.push(given)
      return run({ code } as unknown as SandboxDriver)
    },
    assertEpoch: (epoch) => void epochs.push(epoch),
  }
  return { code: new CloudflareSandboxCodeInterpreter(sandbox, options), made, calls, epochs }
}

const request = {
  cwd: '/workspace',
  timeoutMs: 100,
  maxOutputBytes: 50,
  spillDirectory: expect.any(String),
}

test('code has the time, the limits, the signal and the listener that it asks for', async () => {
  const { code, made, calls, epochs } = recorded()
  const { signal } = new AbortController()
  await code.runCode('python', 'x', { timeoutMs: 5, signal, onOutput: () => {} })
  const context = await code.createContext('javascript')
  await code.runInContext(context, 'y')
  expect(made).toEqual([
    [
      'runOnce',
      'python',
      'x',
      { ...request, timeoutMs: 5, signal, onOutput: expect.any(Function) },
    ],
    ['create', 'javascript', { cwd: '/workspace' }],
    ['run', 'c1', 'y', request],
  ])
  expect(calls).toEqual([{ timeoutMs: 12 }, undefined, { timeoutMs: 107 }])
  expect(epochs).toEqual(['e', 'e'])
})

test('a result has the outputs, the exit code and the error of the run', async () => {
  expect(await recorded().code.runCode('python', 'x')).toEqual({
    outputs: done.outputs,
    exitCode: 0,
  })
  const error = { name: 'E', message: 'm' }
  expect(await recorded({ ...done, exitCode: 1, error }).code.runCode('python', 'x')).toEqual({
    outputs: done.outputs,
    exitCode: 1,
    error,
  })
})

test('a run that was out of time says so, whatever its interpreter has said', async () => {
  const late = { ...done, exitCode: 1, timedOut: true, error: { name: 'E', message: 'm' } }
  expect(await recorded(late).code.runCode('python', 'x', { timeoutMs: 5 })).toEqual({
    outputs: done.outputs,
    exitCode: 124,
    error: {
      name: 'TimeoutError',
      message: 'the code ran for more than 5 ms and was ended, with its context',
    },
  })
})

test('an abort before and during a run rejects with its reason', async () => {
  const { code, made } = recorded()
  const reason = new Error('stop')
  const signal = AbortSignal.abort(reason)
  await expect(code.runCode('python', 'x', { signal })).rejects.toBe(reason)
  await expect(code.runInContext('c' as never, 'x', { signal })).rejects.toBe(reason)
  expect(made).toEqual([])
  const stop = new AbortController()
  const running = code.runCode('python', 'x', { signal: stop.signal })
  stop.abort(reason)
  await expect(running).rejects.toBe(reason)
})

test('a language that is not there is rejected, and the ones that are there are named', async () => {
  const { code, made } = recorded()
  for (const asked of [code.runCode(`cobol${'x'.repeat(99)}`, ''), code.createContext('cobol')]) {
    await expect(asked).rejects.toMatchObject({
      code: 'invalid-input',
      message: expect.stringMatching(/^"cobolx{0,35}" is not a language of this workspace$/),
      hint: 'Languages: python, javascript, typescript.',
    })
  }
  expect(made).toEqual([])
})

test('the end of a workspace ends each context that it made and that was not deleted, once', async () => {
  const { code, made } = recorded()
  const [first] = [await code.createContext('python'), await code.createContext('python')]
  await code.deleteContext(first)
  made.length = 0
  await code.endAll()
  await code.endAll()
  expect(made).toEqual([['remove', 'c2'], ['removed']])
})

test('an interpreter says what it can', () => {
  const { code } = recorded()
  expect(code).toMatchObject({
    languages: ['python', 'javascript', 'typescript'],
    isStateful: true,
  })
})

test('a context without an id is none', async () => {
  const { code, made } = recorded(done, () => '')
  await expect(code.createContext('python')).rejects.toThrow(
    new TypeError('a driver gave a code context without an id'),
  )
  made.length = 0
  await code.endAll()
  expect(made).toEqual([])
})

test('a context that could not be deleted is deleted again at the end, which never fails', async () => {
  const gone = new Error('the container is gone')
  const made: unknown[] = []
  const code = {
    create: () => Promise.resolve('c1'),
    remove: (id: string) => {
      made.push(id)
      return Promise.reject(gone)
    },
  }
  const sandbox: CodeCalls = {
    call: (run) => run({ code } as unknown as SandboxDriver),
    assertEpoch: () => {},
  }
  const interpreter = new CloudflareSandboxCodeInterpreter(sandbox, options)
  const context = await interpreter.createContext('python')
  await expect(interpreter.deleteContext(context)).rejects.toBe(gone)
  await interpreter.endAll()
  await interpreter.endAll()
  expect(made).toEqual(['c1', 'c1'])
})

test('a listener keeps its own object', async () => {
  const { code, made } = recorded()
  const listener = {
    heard: 0,
    onOutput() {
      this.heard += 1
    },
  }
  await code.runCode('python', 'x', listener)
  const given = made[0]?.[3] as { onOutput(output: unknown): void }
  given.onOutput({})
  expect(listener.heard).toBe(1)
})

test('an abort during a run comes before its answer, even one of another container', async () => {
  const { code, epochs } = recorded()
  const stop = new AbortController()
  const reason = new Error('stop')
  const running = code.runInContext('c' as never, 'x', { signal: stop.signal })
  stop.abort(reason)
  await expect(running).rejects.toBe(reason)
  expect(epochs).toEqual([])
})
