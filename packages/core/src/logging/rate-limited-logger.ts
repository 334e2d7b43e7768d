import type { Clock } from '../time/clock.ts'
import { logMessages } from './log-messages.ts'
import type { Logger } from './logger.ts'

/** Options of `RateLimitedLogger`; times in milliseconds. */
export interface RateLimitedLoggerOptions {
  readonly logger: Logger
  readonly clock: Clock
  /** Identical events within this time after a full line are counted, not written. Default 60,000. */
  readonly securityWindowMs?: number
  /** How often what was counted is written, while there is something. Default 5,000. */
  readonly rollupIntervalMs?: number
  /** Distinct events that are counted separately at a time; further ones share one counter. Default 1,000. */
  readonly maxKeys?: number
  /** Lines of one roll-up; the rest shares one more. Default 20. */
  readonly maxRollupLines?: number
}

interface Event {
  readonly message: string
  readonly fields: object
  /** When the next identical event is written in full again. */
  quietUntil: number
  suppressedCount: number
}

/**
 * Writes each distinct warning at once and in full, then counts its repetitions and writes how
 * many there were every few seconds: an attacker can neither flood the log nor silence it.
 * Every call ends up in exactly one line or one count, and memory is bounded however many
 * distinct keys there are.
 */
export class RateLimitedLogger {
  readonly #logger: Logger
  readonly #clock: Clock
  readonly #windowMs: number
  readonly #rollupIntervalMs: number
  readonly #maxKeys: number
  readonly #maxRollupLines: number
  /** By message and key; a full line moves its event to the end, so the first ends its window first. */
  readonly #events = new Map<string, Event>()
  /** Those with something to roll up. */
  readonly #suppressed = new Set<Event>()
  /** Stands for all events that found no place. */
  #overflow: Event | undefined
  #cancelRollup: (() => void) | undefined

  constructor(options: RateLimitedLoggerOptions) {
    this.#logger = options.logger
    this.#clock = options.clock
    this.#windowMs = options.securityWindowMs ?? 60_000
    this.#rollupIntervalMs = options.rollupIntervalMs ?? 5000
    this.#maxKeys = options.maxKeys ?? 1000
    this.#maxRollupLines = options.maxRollupLines ?? 20
  }

  /**
   * Warns, or counts the warning when an identical one (same key and message) was written within
   * the window. `fields` of a counted one are not kept.
   */
  warnRateLimited(key: string, message: string, fields: object): void {
    const now = this.#clock.now()
    const identity = `${message}\0${key}`
    const known = this.#events.get(identity)
    if (known !== undefined && now < known.quietUntil) return this.#count(known)
    if (known !== undefined) this.#forget(identity, known)
    this.#makeRoom(now)
    if (this.#events.size >= this.#maxKeys) return this.#warnOverflow(now, message, fields)
    this.#logger.warn(fields, message)
    this.#events.set(identity, this.#newEvent(now, message, fields))
  }

  /** Writes what is counted so far and stops the timer. Call it on close. */
  flush(): void {
    this.#cancelRollup?.()
    this.#cancelRollup = undefined
    const events = [...this.#suppressed]
    this.#suppressed.clear()
    for (const event of events.slice(0, this.#maxRollupLines)) this.#writeCount(event)
    this.#writeRest(events.slice(this.#maxRollupLines))
  }

  #newEvent(now: number, message: string, fields: object): Event {
    return { message, fields, quietUntil: now + this.#windowMs, suppressedCount: 0 }
  }

  #count(event: Event): void {
    event.suppressedCount++
    this.#suppressed.add(event)
    this.#cancelRollup ??= this.#clock.setTimer(this.#rollupIntervalMs, () => this.flush())
  }

  /** Drops events whose window is over; the map is in the order of their ends. */
  #makeRoom(now: number): void {
    for (const [identity, event] of this.#events) {
      if (now < event.quietUntil) return
      this.#forget(identity, event)
    }
  }

  #forget(identity: string, event: Event): void {
    this.#events.delete(identity)
    if (this.#suppressed.delete(event)) this.#writeCount(event)
  }

  #warnOverflow(now: number, message: string, fields: object): void {
    if (this.#overflow !== undefined && now < this.#overflow.quietUntil) {
      return this.#count(this.#overflow)
    }
    if (this.#overflow !== undefined && this.#suppressed.delete(this.#overflow)) {
      this.#writeCount(this.#overflow)
    }
    this.#logger.warn(fields, message)
    const others = { distinctKeysOver: this.#maxKeys }
    this.#overflow = this.#newEvent(now, logMessages.rateLimitedOthers, others)
  }

  #writeCount(event: Event): void {
    const { message, fields, suppressedCount } = event
    event.suppressedCount = 0
    this.#logger.warn({ ...fields, suppressedCount }, `${logMessages.rateLimited} ${message}`)
  }

  #writeRest(events: readonly Event[]): void {
    if (events.length === 0) return
    let suppressedCount = 0
    for (const event of events) {
      suppressedCount += event.suppressedCount
      event.suppressedCount = 0
    }
    this.#logger.warn(
      { suppressedCount, distinctEvents: events.length },
      `${logMessages.rateLimited} ${logMessages.rateLimitedOthers}`,
    )
  }
}
