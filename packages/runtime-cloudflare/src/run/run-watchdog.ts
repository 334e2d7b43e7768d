import type { Clock } from '@helix-agents/core'
import type { StartedRun } from '@helix-agents/runtime-js'
import type { AlarmSource } from '../alarm/alarm-scheduler.ts'
import { dueAt, type RunRecord, type RunRecords } from './run-records.ts'

export interface RunWatchdogParts {
  readonly records: RunRecords
  readonly clock: Clock
  /** Between two alarms while a run is under way, in milliseconds. */
  readonly heartbeatMs: number
  /** Keeps the object in memory until the promise has settled, where the platform does that. */
  readonly waitUntil: (work: Promise<unknown>) => void
  /** A run begins: the object is to be woken at the latest then, in milliseconds since the epoch. */
  readonly ringBy: (at: number) => Promise<void>
  /** A run has ended, or has not begun: the next alarm may be another one. */
  readonly onChange: () => Promise<void>
  /** The stream of a session has a run to read. */
  readonly onStarted: () => void
  /** Takes up the runs of an earlier instance. */
  readonly recover: () => Promise<void>
  /** Whether the store still has the session as running: its end could not be written. */
  readonly isLeft: (sessionId: string) => Promise<boolean>
  /** Throws while no run may begin. */
  readonly assertMayStart: () => void
}

/**
 * Records every run while it is under way, and sets an alarm meanwhile: it keeps the object in
 * memory, and when the object was evicted all the same, the next instance finds the record.
 */
export class RunWatchdog implements AlarmSource {
  readonly name = 'runs'
  readonly #parts: RunWatchdogParts
  /** Runs of this instance by session, those that are starting too. */
  readonly #running = new Map<string, number>()
  readonly #ends = new Set<Promise<void>>()

  constructor(parts: RunWatchdogParts) {
    this.#parts = parts
  }

  isRunning(sessionId: string): boolean {
    return this.#running.has(sessionId)
  }

  /** Sessions with a run of this instance, those that are starting too. */
  running(): readonly string[] {
    return [...this.#running.keys()]
  }

  /** Waits until all runs have ended, and nothing is written of them. */
  async untilAtRest(): Promise<void> {
    await Promise.allSettled(this.#ends)
  }

  /** Starts a run and records it until it has ended. */
  async watch<TRun extends StartedRun>(
    record: RunRecord,
    start: () => Promise<TRun>,
  ): Promise<TRun> {
    const { records, clock, heartbeatMs, onStarted, waitUntil, assertMayStart } = this.#parts
    const { sessionId } = record
    assertMayStart()
    const before = records.get(sessionId)
    records.put(record)
    this.#count(sessionId, 1)
    try {
      await this.#parts.ringBy(clock.now() + heartbeatMs)
      const run = await start()
      const ended = this.#untilEnded(run)
      this.#ends.add(ended)
      waitUntil(ended.finally(() => this.#ends.delete(ended)))
      onStarted()
      return run
    } catch (error) {
      this.#count(sessionId, -1)
      // Another run may hold the session: its record is put back.
      if (before === undefined) records.remove(sessionId)
      else records.put(before)
      await this.#parts.onChange()
      throw error
    }
  }

  /** Records a session while something is stored that a run of it has to act on. */
  async note<T>(sessionId: string, work: () => Promise<T>): Promise<T> {
    const { records, clock, heartbeatMs, assertMayStart } = this.#parts
    assertMayStart()
    if (records.get(sessionId) === undefined) records.put({ sessionId, attempts: 0 })
    try {
      await this.#parts.ringBy(clock.now() + heartbeatMs)
      return await work()
    } finally {
      if (!this.isRunning(sessionId)) {
        await this.#forget(sessionId)
        await this.#parts.onChange()
      }
    }
  }

  nextAt(now: number): number | undefined {
    const times = this.#parts.records
      .all()
      .map((record) =>
        this.isRunning(record.sessionId) ? now + this.#parts.heartbeatMs : dueAt(record, now),
      )
    return times.length === 0 ? undefined : Math.min(...times)
  }

  run(): Promise<void> {
    return this.#parts.recover()
  }

  async #untilEnded({ sessionId, done }: StartedRun): Promise<void> {
    await done
    this.#count(sessionId, -1)
    await this.#forget(sessionId).finally(() => this.#parts.onChange())
  }

  /** A run that could not be ended is resumed when the store answers. */
  async #forget(sessionId: string): Promise<void> {
    const isLeft = await this.#parts.isLeft(sessionId)
    if (!isLeft && !this.isRunning(sessionId)) this.#parts.records.remove(sessionId)
  }

  #count(sessionId: string, change: number): void {
    const count = (this.#running.get(sessionId) ?? 0) + change
    if (count > 0) this.#running.set(sessionId, count)
    else this.#running.delete(sessionId)
  }
}
