import { toStorageError } from '@helix-agents/store-cloudflare'

const PREFIX = 'helix:run:'

/** What an instance of an object must know to go on with a run of the one before. */
export interface RunNote {
  readonly sessionId: string
  /** How often the run was taken up again without getting any further. */
  readonly attempts: number
  /** How far it was when it was taken up last. */
  readonly progress?: string
  /** Not to be taken up before; milliseconds since the epoch. */
  readonly retryAt?: number
}

/** Longer than that no run is put off, in milliseconds. */
export const MAX_DELAY_MS = 300_000

/** When a run is to be taken up. A time that lies too far ahead is one of a clock that was wrong. */
export function dueAt({ retryAt = 0 }: RunNote, now: number): number {
  return retryAt > now + MAX_DELAY_MS ? now : retryAt
}

/** The runs that are under way, as the storage of the object has them. */
export class RunNotes {
  readonly #kv: SyncKvStorage

  constructor(kv: SyncKvStorage) {
    this.#kv = kv
  }

  all(): readonly RunNote[] {
    return [...this.#kv.list({ prefix: PREFIX })].map(([, note]) => note).filter(isNote)
  }

  get(sessionId: string): RunNote | undefined {
    const note = this.#kv.get(PREFIX + sessionId)
    return isNote(note) ? note : undefined
  }

  /** @throws {StateStoreError} `unavailable` when the storage is full. */
  put(note: RunNote): void {
    try {
      this.#kv.put(PREFIX + note.sessionId, note)
    } catch (error) {
      throw toStorageError(error, note.sessionId)
    }
  }

  remove(sessionId: string): void {
    this.#kv.delete(PREFIX + sessionId)
  }
}

function isNote(value: unknown): value is RunNote {
  return (
    typeof value === 'object' &&
    value !== null &&
    'sessionId' in value &&
    typeof value.sessionId === 'string' &&
    'attempts' in value &&
    typeof value.attempts === 'number'
  )
}
