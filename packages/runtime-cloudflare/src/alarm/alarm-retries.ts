import type { Logger } from '@helix-agents/core'

const PREFIX = 'helix:alarm:'
const FIRST_DELAY_MS = 60_000
const MAX_DELAY_MS = 6 * 3_600_000

interface Failed {
  readonly failures: number
  /** Milliseconds since the epoch. */
  readonly retryAt: number
}

/**
 * When work that failed is tried again: after a minute, then each time after four times as long, up
 * to six hours. It is stored: what fails for ever must not wake every instance anew.
 */
export class AlarmRetries {
  readonly #kv: Pick<SyncKvStorage, 'get' | 'put' | 'delete'>
  readonly #logger: Logger
  /** What the storage did not take, as long as the instance lives. */
  readonly #unstored = new Map<string, Failed>()

  constructor(kv: Pick<SyncKvStorage, 'get' | 'put' | 'delete'>, logger: Logger) {
    this.#kv = kv
    this.#logger = logger
  }

  /**
   * Not before; 0 for work that did not fail. A time that lies too far ahead is one of a clock that
   * was wrong.
   */
  retryAt(name: string, now: number): number {
    const { failures, retryAt } = this.#find(name) ?? { failures: 0, retryAt: 0 }
    return retryAt > now + delayAfter(failures) ? now : retryAt
  }

  /** Returns when it is tried again. */
  noteFailure(name: string, now: number): number {
    const { failures = 0 } = this.#find(name) ?? {}
    const retryAt = now + delayAfter(failures + 1)
    const failed = { failures: failures + 1, retryAt }
    this.#unstored.set(name, failed)
    if (this.#isStored(name, failed)) this.#unstored.delete(name)
    return retryAt
  }

  noteSuccess(name: string): void {
    if (this.#find(name) === undefined) return
    this.#unstored.delete(name)
    this.#kv.delete(PREFIX + name)
  }

  /** All that the object stored was removed: the next session begins anew. */
  forget(): void {
    this.#unstored.clear()
  }

  /** A full storage takes nothing: that must not keep other work from its turn. */
  #isStored(name: string, failed: Failed): boolean {
    try {
      this.#kv.put(PREFIX + name, failed)
      return true
    } catch (err) {
      this.#logger.warn({ err, source: name }, 'failure of an alarm could not be stored')
      return false
    }
  }

  #find(name: string): Failed | undefined {
    const found = this.#unstored.get(name) ?? this.#kv.get(PREFIX + name)
    return isFailed(found) ? found : undefined
  }
}

function delayAfter(failures: number): number {
  return Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 4 ** (failures - 1))
}

function isFailed(value: unknown): value is Failed {
  return (
    typeof value === 'object' &&
    value !== null &&
    'failures' in value &&
    typeof value.failures === 'number' &&
    'retryAt' in value &&
    typeof value.retryAt === 'number'
  )
}
