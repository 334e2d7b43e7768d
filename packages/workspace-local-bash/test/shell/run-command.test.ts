// How a command is awaited: to its end, its deadline, an abort, and until its outputs are read.
import { getEventListeners } from 'node:events'
import { closeSync, mkdtempSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ManualClock } from '@helix-agents/core/testing'
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { OutputReader } from '../../src/shell/output/output-reader.ts'
import { type Pipe, PipePool } from '../../src/shell/output/pipe-pool.ts'
import { superviseCommand } from '../../src/shell/run-command.ts'
import type { ProcessEnd } from '../../src/shell/start-process.ts'

const scratch = mkdtempSync(join(tmpdir(), 'helix-run-'))
const pool = new PipePool()
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

let clock: ManualClock
let pipes: readonly [Pipe, Pipe]
beforeEach(async () => {
  clock = new ManualClock()
  pipes = [await pool.take(scratch), await pool.take(scratch)]
})
afterEach(() => {
  vi.useRealTimers()
  if (clock.pendingTimers > 0) throw new Error('a timer is left')
})

/** A command whose end and whose outputs are in the hands of a test. */
function command(signal?: AbortSignal) {
  const ended = Promise.withResolvers<ProcessEnd>()
  const calls: (readonly [name: string, ms: number])[] = []
  const read: string[] = []
  const take = (piece: Uint8Array): void => void read.push(Buffer.from(piece).toString())
  const readers = [
    new OutputReader(pipes[0].readFd, take),
    new OutputReader(pipes[1].readFd, take),
  ] as const
  const started = { pid: 7, ended: ended.promise, readers, pipePaths: [] }
  const hold = {
    end: async (ms: number) => void calls.push(['end', ms]),
    endLeftovers: async (ms: number) => void calls.push(['endLeftovers', ms]),
  }
  const limits = { timeoutMs: 5000, graceMs: 70, clock, signal }
  const startMs = performance.now()
  const outcome = superviseCommand(started, hold, limits)
  return { calls, ended, outcome, read, readers, startMs }
}
function closeOutputs(): void {
  for (const { writeFd } of pipes) closeSync(writeFd)
}

describe('a command that ends by itself', () => {
  it('has its end, when its outputs are read', async () => {
    const { calls, ended, outcome, read, startMs } = command()
    writeSync(pipes[0].writeFd, 'early ')
    ended.resolve({ exitCode: 7 })
    await new Promise((resolve) => setImmediate(resolve))
    writeSync(pipes[0].writeFd, 'late')
    closeOutputs()
    const { durationMs, ...rest } = await outcome
    expect([rest, read.join('')]).toEqual([{ end: { exitCode: 7 }, timedOut: false }, 'early late'])
    expect(durationMs).toBeGreaterThan(0)
    expect(durationMs).toBeLessThanOrEqual(performance.now() - startMs)
    expect(calls).toEqual([['endLeftovers', expect.any(Number)]])
    expect(calls[0]?.[1]).toBeLessThanOrEqual(durationMs)
  })
  it('and never began is an error, once nothing of it is left', async () => {
    const { calls, ended, outcome, readers } = command()
    ended.resolve({ exitCode: 126, failure: 'no namespace' })
    await expect(outcome).rejects.toMatchObject({
      code: 'provider-failed',
      message: 'the command could not be started',
      transient: true,
      cause: new Error('no namespace'),
    })
    await Promise.all(readers.map((reader) => reader.ended))
    expect(calls.map(([name]) => name)).toEqual(['endLeftovers'])
    closeOutputs()
  })
  it('is not waited for by an output that another process holds and that is silent', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    const { ended, outcome, readers } = command()
    let isOver = false
    void outcome.then(() => (isOver = true))
    const pass = async (ms: number): Promise<boolean> => {
      await vi.advanceTimersByTimeAsync(ms)
      return isOver
    }
    await pass(251)
    ended.resolve({ exitCode: 0 })
    // The first three polls only let it read.
    expect([await pass(0), await pass(60), await pass(19)]).toEqual([false, false, false])
    await pass(1)
    await Promise.all(readers.map((reader) => reader.ended))
    expect(await pass(0)).toBe(true)
    closeOutputs()
  })
  it('is waited for by an output of which something came not long ago', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    const { ended, outcome, readers } = command()
    let isOver = false
    void outcome.then(() => (isOver = true))
    ended.resolve({ exitCode: 0 })
    await vi.advanceTimersByTimeAsync(250)
    expect(isOver).toBe(false)
    await vi.advanceTimersByTimeAsync(30)
    await Promise.all(readers.map((reader) => reader.ended))
    await vi.advanceTimersByTimeAsync(0)
    expect(isOver).toBe(true)
    closeOutputs()
  })
  it('whose outputs are still read at its deadline timed out', async () => {
    const { ended, outcome } = command()
    ended.resolve({ exitCode: 0 })
    await new Promise((resolve) => setImmediate(resolve))
    await clock.advance(5000)
    expect(await outcome).toMatchObject({ end: { exitCode: 0 }, timedOut: true })
    closeOutputs()
  })
})

it('a command that is over is no concern of the signal of its caller', async () => {
  const { signal } = new AbortController()
  const { ended, outcome } = command(signal)
  expect(getEventListeners(signal, 'abort')).toHaveLength(1)
  ended.resolve({ exitCode: 0 })
  closeOutputs()
  await outcome
  expect(getEventListeners(signal, 'abort')).toEqual([])
})

describe('a command that is ended', () => {
  it('at its deadline has timed out', async () => {
    const { calls, ended, outcome, read } = command()
    await clock.advance(4999)
    expect(calls).toEqual([])
    writeSync(pipes[1].writeFd, 'words')
    await clock.advance(1)
    expect(calls).toEqual([['end', 70]])
    ended.resolve({ exitCode: 143 })
    closeOutputs()
    expect(await outcome).toMatchObject({ end: { exitCode: 143 }, timedOut: true })
    expect(read).toEqual(['words'])
  })
  it.each([false, true])('by an abort has not (before its start: %s)', async (isBefore) => {
    const abort = new AbortController()
    if (isBefore) abort.abort()
    const { calls, ended, outcome } = command(abort.signal)
    abort.abort()
    await new Promise((resolve) => setImmediate(resolve))
    expect(calls).toEqual([['end', 70]])
    ended.resolve({ exitCode: 143 })
    closeOutputs()
    expect(await outcome).toMatchObject({ end: { exitCode: 143 }, timedOut: false })
  })
  it('and cannot be is given up after a second, and its outputs too', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    const { outcome, readers } = command()
    let isOver = false
    void outcome.then(() => (isOver = true))
    await clock.advance(5000)
    await vi.advanceTimersByTimeAsync(999)
    expect(isOver).toBe(false)
    await vi.advanceTimersByTimeAsync(1000)
    expect(await outcome).toMatchObject({ end: { exitCode: 137 }, timedOut: true })
    await Promise.all(readers.map((reader) => reader.ended))
    closeOutputs()
  })
})
