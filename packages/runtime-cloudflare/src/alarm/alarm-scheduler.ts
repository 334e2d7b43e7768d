import type { Clock, Logger } from '@helix-agents/core'

/** One reason for an object to be woken. */
export interface AlarmSource {
  /** For the log. */
  readonly name: string
  /** When it wants to be called, in milliseconds since the epoch; `undefined` for never. */
  nextAt(now: number): number | undefined | Promise<number | undefined>
  /** Does what is due. */
  run(now: number): Promise<void>
}

export interface AlarmSchedulerParts {
  readonly storage: Pick<DurableObjectStorage, 'getAlarm' | 'setAlarm' | 'deleteAlarm'>
  readonly clock: Clock
  readonly logger: Logger
  readonly sources: () => readonly AlarmSource[]
}

/** A source that failed is left alone for so long. */
const RETRY_MS = 60_000

/** Shares the one alarm of an object among everybody who needs it. */
export class AlarmScheduler {
  readonly #parts: AlarmSchedulerParts
  readonly #retryAt = new Map<string, number>()

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
    const wanted = await this.#next(now)
    const current = await storage.getAlarm()
    if (wanted === undefined) {
      if (current !== null) await storage.deleteAlarm()
      return
    }
    if (current === null || current <= now || current > wanted) await storage.setAlarm(wanted)
  }

  /**
   * Runs what is due, and sets the next alarm. Never rejects: the platform would give up an alarm
   * after a few failures.
   */
  async ring(): Promise<void> {
    const { sources, clock } = this.#parts
    const now = clock.now()
    for (const source of sources()) {
      const at = await this.#wish(source, now)
      if (at !== undefined && at <= now) await this.#run(source, now)
    }
    await this.update()
  }

  async #run(source: AlarmSource, now: number): Promise<void> {
    try {
      await source.run(now)
      this.#retryAt.delete(source.name)
    } catch (err) {
      this.#fail(source, now, err)
    }
  }

  async #next(now: number): Promise<number | undefined> {
    let next: number | undefined
    for (const source of this.#parts.sources()) {
      const at = await this.#wish(source, now)
      if (at !== undefined && (next === undefined || at < next)) next = at
    }
    return next
  }

  async #wish(source: AlarmSource, now: number): Promise<number | undefined> {
    const retryAt = this.#retryAt.get(source.name) ?? 0
    try {
      const at = await source.nextAt(now)
      return at === undefined ? undefined : Math.max(at, retryAt)
    } catch (err) {
      this.#fail(source, now, err)
      return now + RETRY_MS
    }
  }

  #fail({ name }: AlarmSource, now: number, err: unknown): void {
    this.#parts.logger.error({ err, source: name }, 'work of an alarm failed')
    this.#retryAt.set(name, now + RETRY_MS)
  }
}
