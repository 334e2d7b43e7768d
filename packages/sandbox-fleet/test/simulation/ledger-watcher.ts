import type { LeaseFence, SandboxRecord } from '@helix-agents/sandbox-fleet'
import type { SimulatedProcess, SimulatedProvider } from './simulated-provider.ts'
import type { LedgerWatch } from './unreliable-store.ts'
import type { World } from './world.ts'

const MINUTE_MS = 60_000
const GENTLE: readonly string[] = ['idle', 'pressure', 'pool-expired']
const BY_PEOPLE: readonly string[] = ['operator', 'owner']

export interface LedgerWatcherOptions {
  readonly providerOf: (record: SandboxRecord) => SimulatedProvider
  readonly maxKillsPerPass: number
  /** Clocks of processes differ from the true time by at most so much. */
  readonly skewMs: number
}

/** Judges every write of the ledger by what is true. Shares no code with the rules of the fleet. */
export class LedgerWatcher {
  readonly #world: World
  readonly #options: LedgerWatcherOptions
  readonly #lastTokens = new Map<string, number>()

  constructor(world: World, options: LedgerWatcherOptions) {
    this.#world = world
    this.#options = options
  }

  /** What one process writes; `pass` counts what its present pass ends. */
  watch(process: SimulatedProcess, pass: { kills: number } | undefined): LedgerWatch {
    return {
      onCreated: (record) => {
        this.#world.note(`ledger: ${record.id} is made`)
        this.#options.providerOf(record).known.add(record.id)
      },
      onUpdated: (before, after, fence) => {
        if (fence !== undefined) this.#checkFence(fence)
        if (before.status === after.status) return
        this.#world.note(`ledger: ${after.id} ${before.status} -> ${after.status}`)
        if (after.status === 'terminated') this.#checkGone(before)
        if (after.status !== 'terminating') return
        this.#noteIntent(after)
        this.#checkReason(after)
        if (pass !== undefined) this.#checkBudget(pass)
        this.#checkAge(before, after)
        if (after.kill?.by.startsWith('sweep:') === true)
          this.#checkEvidence(before, after, process)
      },
    }
  }

  #noteIntent(record: SandboxRecord): void {
    this.#options.providerOf(record).intents.set(record.id, this.#world.clock.now())
  }

  #checkFence({ name, token }: LeaseFence): void {
    const last = this.#lastTokens.get(name) ?? 0
    if (token < last) this.#world.violate('a sweeper wrote after another one took over')
    this.#lastTokens.set(name, Math.max(last, token))
  }

  #checkReason({ id, kill }: SandboxRecord): void {
    if (kill === undefined || kill.detail === '') {
      this.#world.violate(`${id} is ended without a reason`)
    }
  }

  #checkBudget(pass: { kills: number }): void {
    pass.kills += 1
    if (pass.kills > this.#options.maxKillsPerPass) this.#world.violate('a pass ended too many')
  }

  #checkAge(before: SandboxRecord, { id, kill }: SandboxRecord): void {
    const by = kill?.by ?? ''
    const real = this.#options.providerOf(before).sandboxes.get(id)
    const madeAt = by === 'reconcile' ? (real?.createdAt ?? 0) : before.createdAt
    const isYoung = this.#world.clock.now() - madeAt < MINUTE_MS
    if (isYoung && !BY_PEOPLE.includes(by)) {
      this.#world.violate(`${id} is ended right after it was made`)
    }
  }

  /** A sweep ends only what nobody holds, what was idle for long, and what it could see. */
  #checkEvidence(before: SandboxRecord, after: SandboxRecord, process: SimulatedProcess): void {
    const now = this.#world.clock.now() + this.#options.skewMs
    const { lease, id, lastActivityAt } = before
    const reason = after.kill?.reason ?? ''
    if (process.untold.has(id)) this.#world.violate(`${id} is ended though its state is not known`)
    const isHeld = lease !== undefined && lease.until > now
    if (isHeld && GENTLE.includes(reason)) this.#world.violate(`${id} has a lease`)
    const wasActive = now - lastActivityAt < 9 * MINUTE_MS
    if (reason === 'idle' && wasActive) this.#world.violate(`${id} was active lately`)
  }

  /** What the ledger has as gone is gone, unless it came just now. */
  #checkGone(before: SandboxRecord): void {
    const real = this.#options.providerOf(before).sandboxes.get(before.id)
    if (real === undefined || this.#world.clock.now() - real.createdAt < MINUTE_MS) return
    this.#world.violate(`${before.id} is recorded as gone and is there`)
  }
}
