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
  /** Resolves when all sessions are done, or the process is dead. */
  readonly ended: Promise<void>
  readonly #die = Promise.withResolvers<void>()

  private constructor(
    { proxy, stores }: { readonly proxy: CuttingProxy; readonly stores: PostgresStores },
    { plan, record }: Pick<CrashWorker, 'plan' | 'record'>,
    clockAheadMs: number,
  ) {
    this.#proxy = proxy
    this.#stores = stores
    const clock = this.#clockOf(clockAheadMs)
    const onPoint = (): Promise<void> => this.#gate ?? Promise.resolve()
    const done = work({ plan, record, stores, clock, onPoint })
    this.ended = Promise.race([done, this.#die.promise])
  }

  static async start(
    url: string,
    worker: Pick<CrashWorker, 'plan' | 'record'>,
    clockAheadMs: number,
  ): Promise<SimulatedProcess> {
    const proxy = await CuttingProxy.start(url)
    const stores = await openPostgresStores(proxy.url, {
      maxConnections: 2,
      reconnectTimeoutMs: 2000,
      listen: false,
    })
    return new SimulatedProcess({ proxy, stores }, worker, clockAheadMs)
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
