// Runs and contexts, whose processes are in the hands of a test.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { CodeOutput, RunCodeOptions } from '@helix-agents/core/provider'
import { ManualClock, RecordingLogger } from '@helix-agents/core/testing'
import { beforeEach, describe, expect, it } from 'vitest'
import {
  LocalCodeInterpreter,
  type LocalCodeOptions,
} from '../../src/code/local-code-interpreter.ts'
import { ProcessInHand, turn } from './process-in-hand.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

const GONE = { code: 'invalid-input', message: 'there is no code context of this id any more' }
const CLOSED = { code: 'closed', message: 'the workspace is closed' }
let clock: ManualClock
let logger: RecordingLogger
let processes: ProcessInHand[]
let signals: AbortSignal[]
beforeEach(() => {
  ;[clock, logger, processes, signals] = [new ManualClock(), new RecordingLogger(), [], []]
})

function open(more: Partial<LocalCodeOptions> = {}): LocalCodeInterpreter {
  return new LocalCodeInterpreter({
    interpreters: new Map([
      ['bash', ['bash', '-c']],
      ['python', ['python3']],
    ]),
    start: (words, sinks) => {
      const process = new ProcessInHand()
      processes.push(process)
      return process.start(words, sinks)
    },
    inTurn: (run, signal) => {
      signals.push(signal)
      return run()
    },
    defaultTimeoutMs: 5000,
    maxOutputBytes: 9,
    killGraceMs: 70,
    clock,
    logger,
    ...more,
  })
}
const inTurn = async (): Promise<never> => {
  throw new Error('no turn')
}
const at = (index: number): ProcessInHand => processes[index] ?? new ProcessInHand()
/** A run that has been told to its process. */
async function told(process: () => ProcessInHand, code: string): Promise<ProcessInHand> {
  await expect.poll(() => process().heard.at(-1), { interval: 1 }).toContain(`\0${code}\0`)
  return process()
}
const end = (process: ProcessInHand): void => process.ended.resolve({ exitCode: 0 })

describe('a run without a context', () => {
  it('has a process of its own, which is ended before it is over', async () => {
    const code = open()
    let isOver = false
    const running = code.runCode('python', 'x = 1').finally(() => (isOver = true))
    const process = await told(() => at(0), 'x = 1')
    process.print(0, 'out')
    process.finish(3)
    await turn()
    expect([isOver, process.calls]).toEqual([false, ['python3', 'end 70']])
    end(process)
    expect(await running).toEqual({
      outputs: [{ type: 'stdout', data: new Uint8Array(Buffer.from('out')) }],
      exitCode: 3,
    })
    await code.close()
    expect(process.calls).toEqual(['python3', 'end 70', 'stop', 'stop'])
  })
  it('is forgotten when it is over', async () => {
    const code = open()
    const run = async () => {
      const outputs: CodeOutput[] = []
      const onOutput = (output: CodeOutput): void => void outputs.push(output)
      const running = code.runCode('python', 'x = 1', { onOutput })
      const process = await told(() => at(0), 'x = 1')
      process.finish()
      end(process)
      await running
      processes = []
      signals = []
      return new WeakRef(onOutput)
    }
    const callback = await run()
    await turn()
    collectGarbage()
    expect(callback.deref()).toBeUndefined()
  })
  it('that cannot be started fails, and the next one is none the worse', async () => {
    const error = new Error('no process')
    const start = async (): Promise<never> => {
      throw error
    }
    const code = open({ start })
    await expect(code.runCode('bash', '1')).rejects.toBe(error)
    await code.close()
  })
  it.each([
    [{}, 5000],
    [{ timeoutMs: 80 }, 80],
  ] as const)('with %j ends after %d ms', async (options, ms) => {
    const running = open().runCode('bash', 'loop', options)
    const process = await told(() => at(0), 'loop')
    await clock.advance(ms - 1)
    expect(process.calls).toEqual(['bash -c'])
    await clock.advance(1)
    end(process)
    expect(await running).toEqual({
      outputs: [],
      exitCode: 124,
      error: {
        name: 'TimeoutError',
        message: `the code ran for more than ${ms} ms and was ended, with its context`,
      },
    })
  })
  it('has its error, or that of its interpreter', async () => {
    const code = open()
    const failing = code.runCode('bash', 'a')
    const first = await told(() => at(0), 'a')
    first.say({ type: 'error', name: 'E', message: 'm' })
    first.finish(1)
    end(first)
    expect(await failing).toMatchObject({ exitCode: 1, error: { name: 'E', message: 'm' } })
    const ending = code.runCode('bash', 'b')
    ;(await told(() => at(1), 'b')).ended.resolve({ exitCode: 9 })
    expect((await ending).error).toEqual({
      name: 'InterpreterExit',
      message: 'the interpreter ended with exit code 9, and its context is gone',
    })
    const quiet = code.runCode('bash', 'c')
    end(await told(() => at(2), 'c'))
    expect(await quiet).toEqual({ outputs: [], exitCode: 0 })
  })
  it('ends with the reason of its caller, and its process with it', async () => {
    const abort = new AbortController()
    const running = open().runCode('bash', 'a', { signal: abort.signal })
    const process = await told(() => at(0), 'a')
    abort.abort(new Error('stopped'))
    end(process)
    await expect(running).rejects.toThrow('stopped')
    expect(process.calls.slice(0, 2)).toEqual(['bash -c', 'end 70'])
    expect(signals[0]?.reason).toEqual(new Error('stopped'))
  })
  it('leaves errors of its callback in the log', async () => {
    const error = new Error('of the callback')
    const onOutput: RunCodeOptions['onOutput'] = async () => {
      throw error
    }
    const running = open().runCode('bash', 'a', { onOutput })
    const process = await told(() => at(0), 'a')
    process.print(1, 'x')
    process.finish()
    end(process)
    await running
    const message = 'a callback for the output of code failed'
    expect(logger.lines).toEqual([{ level: 'warn', message, fields: { error } }])
  })
})

describe('a context', () => {
  it('keeps its process, and runs one after the other', async () => {
    const code = open()
    const id = await code.createContext('bash')
    const runs = [code.runInContext(id, 'a'), code.runInContext(id, 'b')]
    const process = await told(() => at(0), 'a')
    await turn()
    expect(process.heard).toHaveLength(1)
    process.finish(1)
    await told(() => at(0), 'b')
    process.finish(2)
    expect((await Promise.all(runs)).map(({ exitCode }) => exitCode)).toEqual([1, 2])
    expect([process.calls, processes.length]).toEqual([['bash -c'], 1])
  })
  it('is gone with a run that takes too long, and so is the next one', async () => {
    const code = open()
    const id = await code.createContext('bash')
    const [first, second] = [
      code.runInContext(id, 'a', { timeoutMs: 9 }),
      code.runInContext(id, 'b'),
    ]
    const gone = Promise.allSettled([second])
    const process = await told(() => at(0), 'a')
    await clock.advance(9)
    end(process)
    expect(await first).toMatchObject({ exitCode: 124 })
    expect(await gone).toMatchObject([{ status: 'rejected', reason: GONE }])
    await expect(code.runInContext(id, 'c')).rejects.toMatchObject(GONE)
    expect(process.calls).toEqual(['bash -c', 'end 70', 'stop', 'stop'])
  })
  it('is gone with a run that is stopped, and is ended', async () => {
    const code = open()
    const id = await code.createContext('bash')
    const abort = new AbortController()
    const running = code.runInContext(id, 'a', { signal: abort.signal })
    const process = await told(() => at(0), 'a')
    abort.abort(new Error('stopped'))
    end(process)
    await expect(running).rejects.toThrow('stopped')
    await expect(code.deleteContext(id)).rejects.toMatchObject(GONE)
  })
  it('whose process fails is gone with it', async () => {
    const code = open()
    const id = await code.createContext('bash')
    const running = Promise.allSettled([code.runInContext(id, 'a')])
    const error = new Error('no end')
    const process = await told(() => at(0), 'a')
    process.ended.reject(error)
    expect(await running).toEqual([{ status: 'rejected', reason: error }])
    expect(process.calls).toEqual(['bash -c', 'end 0'])
    await expect(code.deleteContext(id)).rejects.toMatchObject(GONE)
  })
  it('takes code of 8 Mi characters, and no more', async () => {
    const code = open()
    const id = await code.createContext('bash')
    const longest = 'x'.repeat(8 * 1024 * 1024)
    await expect(code.runInContext(id, `${longest}x`)).rejects.toMatchObject({
      code: 'invalid-input',
      message: 'the code has more than 8388608 characters',
      hint: 'Put data into files and read them from the code.',
    })
    const running = code.runInContext(id, longest)
    await expect.poll(() => at(0).heard.length, { interval: 1 }).toBe(1)
    at(0).finish(4)
    expect((await running).exitCode).toBe(4)
  })
  it('whose run never got its turn stays', async () => {
    const code = open({ inTurn })
    const id = await code.createContext('bash')
    await expect(code.runInContext(id, 'a')).rejects.toThrow('no turn')
    const deleting = code.deleteContext(id)
    end(at(0))
    await deleting
    expect(at(0).calls).toEqual(['bash -c', 'end 70', 'stop', 'stop'])
  })
  it('is one of 16 at most, and one that cannot be started is none', async () => {
    let fails = true
    const code = open({
      start: (words, sinks) => {
        if (fails) throw new Error('no process')
        return new ProcessInHand().start(words, sinks)
      },
    })
    await expect(code.createContext('bash')).rejects.toThrow('no process')
    fails = false
    const ids = await Promise.all(Array.from({ length: 16 }, () => code.createContext('bash')))
    expect([ids[0], ids[15]]).toEqual(['c2', 'c17'])
    await expect(code.createContext('bash')).rejects.toMatchObject({
      code: 'invalid-input',
      message: '16 contexts are open already',
      hint: 'Delete one of them first.',
    })
  })
  it('that is deleted is gone, once its process has ended', async () => {
    const code = open()
    const id = await code.createContext('python')
    let isOver = false
    const deleting = code.deleteContext(id).then(() => (isOver = true))
    await turn()
    expect([isOver, at(0).calls]).toEqual([false, ['python3', 'end 70']])
    await expect(code.runInContext(id, 'a')).rejects.toMatchObject(GONE)
    end(at(0))
    await deleting
  })
})

describe('code that is closed', () => {
  it('ends contexts and runs at once, and waits for them', async () => {
    const code = open()
    const id = await code.createContext('bash')
    const running = code.runCode('python', 'a')
    await told(() => at(1), 'a')
    const stopped = Promise.allSettled([running])
    let isOver = false
    const closing = code.close().then(() => (isOver = true))
    await turn()
    expect(isOver).toBe(false)
    expect(at(0).calls.slice(0, 2)).toEqual(['bash -c', 'end 0'])
    expect(at(1).calls.slice(0, 2)).toEqual(['python3', 'end 0'])
    end(at(0))
    await turn()
    expect(isOver).toBe(false)
    end(at(1))
    await closing
    expect(await stopped).toMatchObject([{ status: 'rejected', reason: CLOSED }])
    await expect(code.runInContext(id, 'a')).rejects.toMatchObject(CLOSED)
    await expect(code.deleteContext(id)).rejects.toMatchObject(CLOSED)
    await expect(code.createContext('bash')).rejects.toMatchObject(CLOSED)
  })
})
