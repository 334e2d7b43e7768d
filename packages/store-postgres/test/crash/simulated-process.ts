import { type Clock, systemClock } from '@helix-agents/core'
import { openPostgresStores, type PostgresStores } from '@helix-agents/store-postgres'
import { CuttingProxy } from '../cutting-proxy.ts'
import { type CrashWorker, work } from './crash-worker.ts'

const MINUTES = 60_000

/** The wrong clocks of three processes; the first one begins the sessions. */
export const CLOCKS = [0, 5 * MINUTES, -5 * MINUTES] as const

/**
 * A process that can be killed and frozen a thousand times a minute: what it does waits at a gate, which
 * is closed while it is frozen and for good when it is dead, and its connections go through a proxy.
 */
export class SimulatedProcess {
  readonly #proxy: CuttingProxy
  readonly #stores: PostgresStores
  #gate: Promise<void> | undefined
  #isDead = false
  readonly #clock: Clock
  readonly #die = Promise.withResolvers<void>()

  private constructor(proxy: CuttingProxy, stores: PostgresStores, clockAheadMs: number) {
    this.#proxy = proxy
    this.#stores = stores
    this.#clock = this.#clockOf(clockAheadMs)
  }

  static async start(url: string, clockAheadMs: number): Promise<SimulatedProcess> {
    const proxy = await CuttingProxy.start(url)
    const stores = await openPostgresStores(proxy.url, {
      maxConnections: 2,
      reconnectTimeoutMs: 2000,
    })
    return new SimulatedProcess(proxy, stores, clockAheadMs)
  }

  /** Resolves when all sessions of the plan are done, or the process is dead. */
  work({ plan, record }: Pick<CrashWorker, 'plan' | 'record'>): Promise<void> {
    const onPoint = (): Promise<void> => this.#gate ?? Promise.resolve()
    const done = work({ plan, record, stores: this.#stores, clock: this.#clock, onPoint })
    return Promise.race([done, this.#die.promise])
  }

  get isDead(): boolean {
    return this.#isDead
  }

  kill(): void {
    this.#isDead = true
    this.#gate = new Promise(() => {})
    this.#proxy.close()
    this.#die.resolve()
  }

  async freeze(ms: number): Promise<void> {
    if (this.#isDead || this.#gate !== undefined) return
    const { promise: thawed, resolve: thaw } = Promise.withResolvers<void>()
    this.#gate = thawed
    this.#proxy.hold()
    await systemClock.sleep(ms)
    if (this.#isDead) return
    this.#gate = undefined
    this.#proxy.release()
    thaw()
  }

  cut(): void {
    this.#proxy.cutAll()
  }

  async slow(delayMs: number, ms: number): Promise<void> {
    this.#proxy.delayMs = delayMs
    await systemClock.sleep(ms)
    this.#proxy.delayMs = 0
  }

  async close(): Promise<void> {
    if (!this.#isDead) this.#proxy.release()
    await this.#stores.close()
    if (!this.#isDead) this.#proxy.close()
  }

  #clockOf(aheadMs: number): Clock {
    return {
      now: () => systemClock.now() + aheadMs,
      sleep: async (ms, signal) => {
        await systemClock.sleep(ms, signal)
        await this.#gate
      },
      setTimer: (ms, callback, options) => {
        let isCancelled = false
        const fire = async (): Promise<void> => {
          await this.#gate
          if (!isCancelled) callback()
        }
        const cancel = systemClock.setTimer(ms, () => void fire(), options)
        return () => {
          isCancelled = true
          cancel()
        }
      },
    }
  }
}
