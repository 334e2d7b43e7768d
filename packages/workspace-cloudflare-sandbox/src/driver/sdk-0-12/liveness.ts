import type { Clock } from '@helix-agents/core'
import { DriverError } from '../driver-error.ts'

export interface LivenessOptions {
  readonly clock: Clock
  /** Time between two probes. Default 5 s. */
  readonly intervalMs: number
  /** A container that is silent for so long is dead. Default 10 s. */
  readonly silenceMs: number
  /** It took a call just now. */
  readonly wasWarm: boolean
}

interface ContainerState {
  readonly status: string
  readonly lastChange: number
}

/** Started, and takes calls. Before that it is `running`, also while its start is failing. */
const ALIVE = 'healthy'

/**
 * Watches a container while a call to it is pending, as such a call may stay pending for ever
 * when the container dies. A container that has not started yet is not dead: only one that was
 * seen alive, or that took a call shortly before and stopped after this one was made.
 */
export class Liveness {
  readonly #options: LivenessOptions
  readonly #probe: () => Promise<ContainerState>
  readonly #dead = Promise.withResolvers<never>()
  readonly #startedMs: number
  #cancelTimer = (): void => {}
  #wasAlive = false
  #silentSinceMs: number | undefined
  #isOver = false

  /** @param probe Asks for the state without starting the container. */
  constructor(options: LivenessOptions, probe: () => Promise<ContainerState>) {
    this.#options = options
    this.#probe = probe
    this.#startedMs = options.clock.now()
    this.#schedule()
  }

  /** Rejects when the container is dead. To be raced at once. */
  get dead(): Promise<never> {
    return this.#dead.promise
  }

  /** It answered at least once while this watched. */
  get wasAlive(): boolean {
    return this.#wasAlive
  }

  stop(): void {
    this.#isOver = true
    this.#cancelTimer()
  }

  #schedule(): void {
    const { clock, intervalMs } = this.#options
    this.#cancelTimer = clock.setTimer(intervalMs, () => void this.#turn())
  }

  async #turn(): Promise<void> {
    // Silence counts from the question on, also while no answer comes.
    this.#silentSinceMs ??= this.#options.clock.now()
    const answer = this.#ask()
    const cancelWait = this.#options.clock.setTimer(this.#options.silenceMs, () => this.#judge())
    const isAlive = await answer
    cancelWait()
    if (isAlive) this.#silentSinceMs = undefined
    this.#judge()
    if (!this.#isOver) this.#schedule()
  }

  async #ask(): Promise<boolean> {
    try {
      const { status, lastChange } = await this.#probe()
      if (status === ALIVE) {
        this.#wasAlive = true
        return true
      }
      const hasStopped = status.startsWith('stopp') && lastChange > this.#startedMs
      if (hasStopped && this.#options.wasWarm) this.#wasAlive = true
      return !this.#wasAlive
    } catch {
      // No answer is no sign of life; the next probe decides.
      return false
    }
  }

  #judge(): void {
    if (this.#isOver || this.#silentSinceMs === undefined) return
    const silentMs = this.#options.clock.now() - this.#silentSinceMs
    if (silentMs < this.#options.silenceMs) return
    this.stop()
    const detail = 'the container went away during the operation'
    this.#dead.reject(new DriverError('interrupted', detail, { admitted: 'unknown' }))
  }
}
