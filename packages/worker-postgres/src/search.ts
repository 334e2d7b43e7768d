import type { Clock } from '@helix-agents/core'
import type { SessionStatus } from '@helix-agents/core/runtime'
import { type SearchResult, takeOver, type TakeOverParts } from './take-over.ts'

/** How left sessions are searched. */
export interface SearchOptions {
  readonly clock: Clock
  /** Longest time between two searches, in milliseconds. */
  readonly searchMs: number
  readonly takeOver: TakeOverParts
  /** Runs a search, and logs what it throws. */
  readonly attempt: (search: () => Promise<void>) => Promise<void>
}

/** The clocks of machines differ: what looks expired here may be held. */
const MIN_SEARCH_MS = 250

const ALL: readonly SessionStatus[] = ['running', 'interrupted', 'waiting']

const NOTHING_FOUND: SearchResult = { next: Infinity, isFull: false, awayUntil: 0 }

/** Searches again and again for sessions whose machine has left them. */
export class Search {
  readonly #options: SearchOptions
  #underWay: Promise<void> = Promise.resolve()
  #cancel: () => void = () => {}
  #isStopped = false
  /** At first paused sessions as well: no turn in the queue may stand for them. */
  #statuses: readonly SessionStatus[] = ALL
  /** Until when machines counted as living that had paused sessions at the first search. */
  #awayUntil: number | undefined

  constructor(options: SearchOptions) {
    this.#options = options
  }

  /** The first search, for all that was left; others follow. */
  start(): Promise<void> {
    this.#underWay = this.#once()
    return this.#underWay
  }

  /** No further search begins. @returns when the one under way has ended. */
  stop(): Promise<void> {
    this.#isStopped = true
    this.#cancel()
    return this.#underWay
  }

  async #once(): Promise<void> {
    const { clock, searchMs, attempt, takeOver: parts } = this.#options
    let found = NOTHING_FOUND
    await attempt(async () => {
      found = await takeOver(parts, this.#statuses)
      if (this.#statuses.length > 1) this.#statuses = this.#next(found)
    })
    if (this.#isStopped) return
    const wait = Math.min(searchMs, Math.max(MIN_SEARCH_MS, found.next - clock.now()))
    this.#cancel = clock.setTimer(wait, () => void this.start())
  }

  #next({ isFull, awayUntil }: SearchResult): readonly SessionStatus[] {
    this.#awayUntil ??= awayUntil
    // A machine that counted as living when this worker started may have died before.
    if (awayUntil > 0 && this.#options.clock.now() < this.#awayUntil) return ALL
    return isFull ? ['running', 'interrupted'] : ['running']
  }
}
