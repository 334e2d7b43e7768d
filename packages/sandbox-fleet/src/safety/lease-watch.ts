import type { Clock } from '@helix-agents/core'
import type { SandboxRecord } from '../ledger/sandbox-record.ts'

/** Leases that are watched at once; beyond, the oldest is watched anew. */
const MAX_WATCHED = 10_000

interface Watched {
  readonly until: number
  readonly generation: number
  isUnchanged: boolean
}

export interface LeaseWatchOptions {
  readonly clock: Pick<Clock, 'setTimer'>
  /** How long a lease must stay as it is, in milliseconds. 0: nothing has to be watched. */
  readonly proofMs: number
  /** For how long leases are not judged after a clock has leapt, in milliseconds. */
  readonly doubtMs: number
}

/**
 * Where each process has a clock of its own, a lease that ran out by one of them may just have been
 * renewed by another. A living owner renews its lease: one that this process sees unchanged for so
 * long has no living owner, whatever the clocks say. Time is measured by timers, which do not leap.
 */
export class LeaseWatch {
  readonly #options: LeaseWatchOptions
  readonly #watched = new Map<string, Watched>()
  /** Holders of this process: they and the sweeper go by the same clock. */
  readonly #own = new Set<string>()

  /** Leaps whose time is not over. */
  #doubts = 0

  constructor(options: LeaseWatchOptions) {
    this.#options = options
  }

  /** A clock has leapt: living owners renew their leases by the new time before any is judged. */
  doubt(): void {
    this.#doubts += 1
    this.#options.clock.setTimer(this.#options.doubtMs, () => {
      this.#doubts -= 1
    })
  }

  addOwn(holder: string): void {
    this.#own.add(holder)
  }

  /** Whether the lease of a record may be judged by the clock of this process; else it is watched. */
  isProven({ lease, id, generation }: SandboxRecord): boolean {
    if (lease?.kind !== 'owner' || this.#own.has(lease.holder)) return true
    if (this.#doubts > 0) return false
    if (this.#options.proofMs === 0) return true
    const { until } = lease
    const seen = this.#watched.get(id)
    if (seen?.until === until && seen.generation === generation) return seen.isUnchanged
    this.#watch(id, { until, generation, isUnchanged: false })
    return false
  }

  #watch(id: string, watched: Watched): void {
    this.#watched.delete(id)
    this.#watched.set(id, watched)
    if (this.#watched.size > MAX_WATCHED) {
      const [oldest] = this.#watched.keys()
      if (oldest !== undefined) this.#watched.delete(oldest)
    }
    this.#options.clock.setTimer(this.#options.proofMs, () => {
      watched.isUnchanged = true
    })
  }
}
