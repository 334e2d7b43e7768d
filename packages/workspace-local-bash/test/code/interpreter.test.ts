// Runs of an interpreter, whose process is in the hands of a test.
import { getEventListeners } from 'node:events'
import { ManualClock } from '@helix-agents/core/testing'
import type { CodeOutput, RunCodeOptions } from '@helix-agents/core/provider'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { Interpreter } from '../../src/code/interpreter.ts'
import { ProcessInHand, turn } from './process-in-hand.ts'

let clock: ManualClock
beforeEach(() => {
  clock = new ManualClock()
})
afterEach(() => {
  if (clock.pendingTimers > 0) throw new Error('a timer is left')
})

/** An interpreter, and what its process says and hears. */
async function started() {
  const process = new ProcessInHand()
  const interpreter = new Interpreter()
  await interpreter.start(process.start, ['python3', '-c'])
  const run = (options: RunCodeOptions = {}) =>
    interpreter.run('code', options, {
      timeoutMs: 5000,
      maxOutputBytes: 99,
      killGraceMs: 70,
      clock,
    })
  const { calls, channel, ended, heard } = process
  return {
    calls,
    channel,
    ended,
    heard,
    interpreter,
    run,
    print: (at: 0 | 1, text: string) => process.print(at, text),
    printMarks: () => process.printMarks(),
    say: (event: object) => process.say(event),
  }
}
const texts = (outputs: readonly CodeOutput[]): string[] =>
  outputs.map((one) =>
    one.type === 'stdout' || one.type === 'stderr'
      ? `${one.type} ${Buffer.from(one.data).toString()}`
      : one.type,
  )

describe('a run', () => {
  it('has what was printed, what was reported, and its status', async () => {
    const { calls, heard, print, printMarks, run, say } = await started()
    const running = run()
    print(0, 'out')
    print(1, 'err')
    say({ type: 'result', json: 1 })
    say({ type: 'done', status: 3 })
    printMarks()
    const { outputs, ...rest } = await running
    expect(texts(outputs)).toEqual(['stdout out', 'stderr err', 'result'])
    expect(rest).toEqual({ exitCode: 3, callbackErrors: [] })
    expect(calls).toEqual(['python3 -c'])
    expect(heard[0]).toMatch(/^[0-9a-f]{32}\0code\0$/)
  })
  it('has the error of its code, and the next run has none', async () => {
    const { printMarks, run, say } = await started()
    const failing = run()
    say({ type: 'error', name: 'E', message: 'm' })
    say({ type: 'done', status: 1 })
    printMarks()
    expect(await failing).toMatchObject({ exitCode: 1, error: { name: 'E', message: 'm' } })
    const running = run()
    say({ type: 'done', status: 0 })
    printMarks()
    expect(await running).toEqual({ outputs: [], exitCode: 0, callbackErrors: [] })
  })
  it('that is over waits for the marks, at most until its deadline', async () => {
    const { print, printMarks, run, say } = await started()
    const running = run()
    say({ type: 'done', status: 0 })
    await turn()
    print(0, 'late')
    printMarks()
    expect(texts((await running).outputs)).toEqual(['stdout late'])
    const open = run()
    print(0, 'no mark \u001e')
    say({ type: 'done', status: 0 })
    await turn()
    await clock.advance(5000)
    const { outputs, exitCode } = await open
    expect([texts(outputs), exitCode]).toEqual([['stdout no mark ', 'stdout \u001e'], 0])
  })
  it.each([
    ['timeout', undefined],
    ['aborted', new AbortController()],
  ] as const)('with the end %s takes the process with it', async (reason, abort) => {
    const { calls, channel, ended, print, run } = await started()
    const running = run(abort && { signal: abort.signal })
    print(0, 'out')
    if (abort === undefined) await clock.advance(5000)
    else abort.abort()
    await turn()
    ended.resolve({ exitCode: 143 })
    const { outputs, ...rest } = await running
    expect([texts(outputs), rest]).toEqual([
      ['stdout out'],
      { exitCode: 124, ended: reason, callbackErrors: [] },
    ])
    expect(calls).toEqual(['python3 -c', 'end 70', 'stop', 'stop'])
    expect(channel.destroyed).toBe(true)
  })
  it('with a signal that was aborted before is ended at once', async () => {
    const { ended, run } = await started()
    ended.resolve({ exitCode: 0 })
    const { ended: how } = await run({ signal: AbortSignal.abort() })
    expect(how).toBe('aborted')
  })
  it('that is over is no concern of the signal of its caller', async () => {
    const { printMarks, run, say } = await started()
    const { signal } = new AbortController()
    const running = run({ signal })
    expect(getEventListeners(signal, 'abort')).toHaveLength(1)
    say({ type: 'done', status: 0 })
    printMarks()
    await running
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })
  it('whose process ends has what it printed last', async () => {
    const [process, interpreter] = [new ProcessInHand(), new Interpreter()]
    const outputsEnded = Promise.withResolvers<void>()
    process.outputsEnded = outputsEnded.promise
    await interpreter.start(process.start, ['python3', '-c'])
    const limits = { timeoutMs: 5000, maxOutputBytes: 99, killGraceMs: 70, clock }
    const running = interpreter.run('code', {}, limits)
    process.ended.resolve({ exitCode: 0 })
    await turn()
    process.print(0, 'last')
    outputsEnded.resolve()
    expect(texts((await running).outputs)).toEqual(['stdout last'])
  })
  it('whose process ends has its exit code', async () => {
    const { calls, ended, run, say } = await started()
    const running = run()
    say({ type: 'error', name: 'E', message: 'm' })
    ended.resolve({ exitCode: 9 })
    expect(await running).toMatchObject({ exitCode: 9, ended: 'exited', error: { name: 'E' } })
    expect(calls).toEqual(['python3 -c', 'end 0', 'stop', 'stop'])
  })
})

describe('the end of an interpreter', () => {
  it('is that of its process, and then its outputs are let go', async () => {
    const { calls, ended, interpreter } = await started()
    let isOver = false
    const ending = interpreter.end(30).then(() => (isOver = true))
    await turn()
    expect([isOver, calls.slice(1)]).toEqual([false, ['end 30']])
    ended.resolve({ exitCode: 0 })
    await ending
    expect(calls.slice(1)).toEqual(['end 30', 'stop', 'stop'])
    await interpreter.end(30)
    expect(calls).toHaveLength(4)
  })
  it('comes once; later there is nothing to run', async () => {
    const { ended, interpreter, run } = await started()
    ended.resolve({ exitCode: 0 })
    await interpreter.end(0)
    await expect(run()).rejects.toThrow('the interpreter was not started')
  })
  it('is given up after a second when even the system cannot end its process', async () => {
    const { interpreter } = await started()
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    let isOver = false
    const ending = interpreter.end(0).then(() => (isOver = true))
    await vi.advanceTimersByTimeAsync(999)
    expect(isOver).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    await ending
  })
  it('is no error of its channel', async () => {
    const { channel, ended, interpreter } = await started()
    expect(channel.emit('error', new Error('EPIPE'))).toBe(true)
    ended.resolve({ exitCode: 0 })
    await interpreter.end(0)
  })
})
