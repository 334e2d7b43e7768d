import type { Clock, Logger } from '@helix-agents/core'
import type { AlarmRetries } from './alarm-retries.ts'

/** One reason for an object to be woken. */
export interface AlarmSource {
  /** For the log, and for what is noted of its failures. */
  readonly name: string
  /** When it wants to be called, in milliseconds since the epoch; `undefined` for never. */
  nextAt(now: number): number | undefined | Promise<number | undefined>
  /** Does what is due. */
  run(now: number): Promise<void>
}

export interface AlarmSchedulerParts {
  readonly storage: Pick<DurableObjectStorage, 'getAlarm' | 'setAlarm' | 'deleteAlarm'>
  readonly retries: AlarmRetries
  readonly clock: Clock
  readonly logger: Logger
  readonly sources: () => readonly AlarmSource[]
  /**
   * Whether the object has no session, or none any more: no provider is asked then, since it would
   * make their tables.
   */
  readonly isEmpty: () => Promise<boolean>
}

/** Shares the one alarm of an object among everybody who needs it. */
export class AlarmScheduler {
  readonly #parts: AlarmSchedulerParts
  /** How often `ringBy` was called: an update that began before must not take its alarm away. */
  #rings = 0

  constructor(parts: AlarmSchedulerParts) {
    this.#parts = parts
  }

  /**
   * Sets the alarm to the earliest time that a source wants. One that rings too early is left as
   * it is: it only looks again.
   */
  async update(): Promise<void> {
    const { storage, clock } = this.#parts
    const now = clock.now()
    const rings = this.#rings
    const wish = await this.#next(now)
    if (wish === undefined) {
      const isSet = (await storage.getAlarm()) !== null
      if (isSet && this.#rings === rings) await storage.deleteAlarm()
      return
    }
    // The platform refuses what lies far back, such as 0 for "at once".
    await this.ringBy(Math.max(wish, now))
  }

  /** Sets the alarm to a time, unless it rings before. Nobody is asked. */
  async ringBy(at: number): Promise<void> {
    const { storage, clock } = this.#parts
    this.#rings += 1
    const current = await storage.getAlarm()
    if (current === null || current <= clock.now() || current > at) await storage.setAlarm(at)
  }

  /**
   * Runs what is due, and sets the next alarm. Never rejects: the platform would give up an alarm
   * after a few failures.
   */
  async ring(): Promise<void> {
    const { sources, clock, isEmpty } = this.#parts
    const now = clock.now()
    if (await isEmpty()) return
    for (const source of sources()) {
      const at = await this.#wish(source, now)
      if (at !== undefined && at <= now) await this.#run(source, now)
    }
    await this.update()
  }

  async #run(source: AlarmSource, now: number): Promise<void> {
    try {
      await source.run(now)
      this.#parts.retries.noteSuccess(source.name)
    } catch (err) {
      await this.#fail(source, now, err)
    }
  }

  async #next(now: number): Promise<number | undefined> {
    let next: number | undefined
    const { sources, isEmpty } = this.#parts
    if (await isEmpty()) return undefined
    for (const source of sources()) {
      const at = await this.#wish(source, now)
      if (at !== undefined && (next === undefined || at < next)) next = at
    }
    return next
  }

  async #wish(source: AlarmSource, now: number): Promise<number | undefined> {
    const { retries, isEmpty } = this.#parts
    // It may have been removed while the source before was at work.
    if (await isEmpty()) return undefined
    const retryAt = retries.retryAt(source.name, now)
    try {
      const at = await source.nextAt(now)
      return at === undefined ? undefined : Math.max(at, retryAt)
    } catch (err) {
      return retryAt > now ? retryAt : this.#fail(source, now, err)
    }
  }

  async #fail({ name }: AlarmSource, now: number, err: unknown): Promise<number | undefined> {
    const { logger, retries, isEmpty } = this.#parts
    logger.error({ err, source: name }, 'work of an alarm failed')
    return (await isEmpty()) ? undefined : retries.noteFailure(name, now)
  }
}
