import { toStorageError } from '@helix-agents/store-cloudflare'

const PREFIX = 'helix:run:'

/** What an instance of an object needs to resume a run of the one before. */
export interface RunRecord {
  readonly sessionId: string
  /** How often the run was resumed without progress. */
  readonly attempts: number
  /** How far it was when it was resumed last. */
  readonly progress?: string
  /** Not to be resumed before; milliseconds since the epoch. */
  readonly retryAt?: number
}

/** Longer than that no run is put off, in milliseconds. */
export const MAX_DELAY_MS = 300_000

/** When a run is to be resumed. A time too far ahead comes from a clock that was wrong. */
export function dueAt({ retryAt = 0 }: RunRecord, now: number): number {
  return retryAt > now + MAX_DELAY_MS ? now : retryAt
}

/** The runs that are under way, as the storage of the object has them. */
export class RunRecords {
  readonly #kv: SyncKvStorage

  constructor(kv: SyncKvStorage) {
    this.#kv = kv
  }

  all(): readonly RunRecord[] {
    return [...this.#kv.list({ prefix: PREFIX })].map(([, record]) => record).filter(isRecord)
  }

  get(sessionId: string): RunRecord | undefined {
    const record = this.#kv.get(PREFIX + sessionId)
    return isRecord(record) ? record : undefined
  }

  /** @throws {StateStoreError} `unavailable` when the storage is full. */
  put(record: RunRecord): void {
    try {
      this.#kv.put(PREFIX + record.sessionId, record)
    } catch (error) {
      throw toStorageError(error, record.sessionId)
    }
  }

  remove(sessionId: string): void {
    this.#kv.delete(PREFIX + sessionId)
  }
}

function isRecord(value: unknown): value is RunRecord {
  return (
    typeof value === 'object' &&
    value !== null &&
    'sessionId' in value &&
    typeof value.sessionId === 'string' &&
    'attempts' in value &&
    typeof value.attempts === 'number'
  )
}
