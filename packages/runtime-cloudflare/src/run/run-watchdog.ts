import type { Clock } from '@helix-agents/core'
import type { AgentHandle } from '@helix-agents/runtime-js'
import type { AlarmSource } from '../alarm/alarm-scheduler.ts'
import type { RunNote, RunNotes } from './run-notes.ts'

export interface RunWatchdogParts {
  readonly notes: RunNotes
  readonly clock: Clock
  /** Between two alarms while a run is under way, in milliseconds. */
  readonly heartbeatMs: number
  /** Keeps the object in memory until the promise has settled, where the platform does that. */
  readonly waitUntil: (work: Promise<unknown>) => void
  /** A run has begun or ended: the next alarm may be another one. */
  readonly onChange: () => Promise<void>
  /** The stream of a session has a run to read. */
  readonly onStarted: (sessionId: string) => void
  /** Takes up the runs of an earlier instance. */
  readonly recover: () => Promise<void>
}

/**
 * Notes every run while it is under way, and has the object woken meanwhile: the alarm keeps it
 * in memory, and when it was evicted all the same, the next instance finds the note.
 */
export class RunWatchdog implements AlarmSource {
  readonly name = 'runs'
  readonly #parts: RunWatchdogParts
  /** Runs of this instance by session, those that are starting too. */
  readonly #running = new Map<string, number>()

  constructor(parts: RunWatchdogParts) {
    this.#parts = parts
  }

  isRunning(sessionId: string): boolean {
    return this.#running.has(sessionId)
  }

  /** Starts a run and notes it until it has ended. */
  async watch<T>(note: RunNote, start: () => Promise<AgentHandle<T>>): Promise<AgentHandle<T>> {
    const { notes, onChange, onStarted, waitUntil } = this.#parts
    const { sessionId } = note
    const before = notes.get(sessionId)
    notes.put(note)
    this.#count(sessionId, 1)
    try {
      await onChange()
      const handle = await start()
      waitUntil(this.#untilEnded(handle))
      onStarted(sessionId)
      return handle
    } catch (error) {
      this.#count(sessionId, -1)
      // Another run may hold the session: its note is put back.
      if (before === undefined) notes.remove(sessionId)
      else notes.put(before)
      throw error
    }
  }

  nextAt(now: number): number | undefined {
    const times = this.#parts.notes
      .all()
      .map(({ sessionId, retryAt = 0 }) =>
        this.isRunning(sessionId) ? now + this.#parts.heartbeatMs : Math.max(retryAt, 0),
      )
    return times.length === 0 ? undefined : Math.min(...times)
  }

  run(): Promise<void> {
    return this.#parts.recover()
  }

  async #untilEnded(handle: AgentHandle): Promise<void> {
    const { sessionId } = handle
    try {
      await handle.result()
    } finally {
      this.#count(sessionId, -1)
      if (!this.isRunning(sessionId)) this.#parts.notes.remove(sessionId)
      await this.#parts.onChange()
    }
  }

  #count(sessionId: string, change: number): void {
    const count = (this.#running.get(sessionId) ?? 0) + change
    if (count > 0) this.#running.set(sessionId, count)
    else this.#running.delete(sessionId)
  }
}
