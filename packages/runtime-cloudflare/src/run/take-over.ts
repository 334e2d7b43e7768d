import type { Clock, Logger } from '@helix-agents/core'
import type { RunRecords } from './run-records.ts'
import type { RunWatchdog } from './run-watchdog.ts'

export interface TakeOverParts {
  readonly records: RunRecords
  readonly watchdog: RunWatchdog
  /** Ends the leases of runs that no process drives any more. */
  readonly releaseLeases: () => Promise<unknown>
  /** Resumes the recorded runs. */
  readonly recover: () => Promise<void>
  readonly getAlarm: () => Promise<number | null>
  readonly updateAlarm: () => Promise<void>
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * Resumes the runs that no process drives, and sets an alarm for the others. What the storage
 * rejects is retried with the next request or alarm: meanwhile the session can
 * be read, and deleted.
 */
export class TakeOver {
  readonly #parts: TakeOverParts
  #isPending = false
  /** Why leases of dead runs could not be ended. */
  #notReleased: unknown
  #again: Promise<void> | undefined

  constructor(parts: TakeOverParts) {
    this.#parts = parts
  }

  /** An alarm could not be set: the next request retries. */
  markPending(): void {
    this.#isPending = true
  }

  /**
   * For a new instance. An alarm that is due is left alone: it may be the one that has made it.
   * Never rejects.
   */
  begin(): Promise<void> {
    const { getAlarm, clock } = this.#parts
    return this.#try(async () => {
      const alarm = await getAlarm()
      return alarm === null || alarm > clock.now()
    })
  }

  /** Does what could not be done before, if there is something. Never rejects. */
  async again(): Promise<void> {
    if (!this.#isPending) return
    await (this.#again ??= this.#try(async () => true).finally(() => {
      this.#again = undefined
    }))
  }

  /**
   * Nobody else works on the storage of an object: runs of no instance but this are dead, whatever
   * their lease.
   * @throws {StateStoreError} `unavailable` as long as that cannot be stored.
   */
  async release(): Promise<void> {
    const { watchdog, releaseLeases } = this.#parts
    if (watchdog.running().length > 0) return
    try {
      await releaseLeases()
      this.#notReleased = undefined
    } catch (error) {
      this.#notReleased = error
      throw error
    }
  }

  /** @throws {StateStoreError} `unavailable` while dead runs seem to hold their sessions. */
  assertReleased(): void {
    if (this.#notReleased !== undefined) throw this.#notReleased
  }

  async #try(needsAlarm: () => Promise<boolean>): Promise<void> {
    const { records, recover, updateAlarm, logger } = this.#parts
    this.#isPending = false
    try {
      await this.release()
      if (records.all().length > 0) await recover()
      if (records.all().length > 0 && (await needsAlarm())) await updateAlarm()
    } catch (err) {
      this.#isPending = true
      logger.error({ err }, 'runs cannot be recovered yet')
    }
  }
}
