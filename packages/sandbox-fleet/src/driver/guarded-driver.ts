import { type Clock, HelixError } from '@helix-agents/core'
import { backoffMs, withDeadline } from '@helix-agents/core/provider'
import { FleetError } from '@helix-agents/core/runtime'
import { causeText, errorText } from '../error-text.ts'
import { type CircuitBreaker, createCircuitBreaker } from './circuit-breaker.ts'
import { parseListing, parseProbe } from './driver-answers.ts'
import type {
  FleetDriver,
  SandboxListing,
  SandboxProbe,
  SandboxResources,
  SandboxTarget,
} from './fleet-driver.ts'

export interface DriverGuardOptions {
  readonly clock: Clock
  /** Numbers in [0, 1) for the jitter of retries. */
  readonly random: () => number
  /** Timeout of one read, in milliseconds. */
  readonly callTimeoutMs: number
  /** Timeout of one destroy, in milliseconds. */
  readonly terminateTimeoutMs: number
  /** Retries of a read. A destroy is not retried here: it stays owed. */
  readonly retries: number
  /** Consecutive failures after which the circuit breaker opens. */
  readonly breakerFailures: number
  /** Cooldown of the open circuit breaker, in milliseconds. */
  readonly breakerCooldownMs: number
}

interface Call<T> {
  readonly name: string
  readonly sandboxId: string
  readonly timeoutMs: number
  readonly attempts: number
  readonly run: (signal: AbortSignal) => Promise<T>
}

/** A driver with timeouts, retries of reads and a circuit breaker, whose answers are validated. */
export class GuardedDriver {
  readonly provider: string
  readonly canList: boolean
  readonly #driver: FleetDriver
  readonly #options: DriverGuardOptions
  readonly #breaker: CircuitBreaker

  constructor(driver: FleetDriver, options: DriverGuardOptions) {
    this.provider = driver.provider
    this.canList = driver.list !== undefined
    this.#driver = driver
    this.#options = options
    this.#breaker = createCircuitBreaker({
      provider: driver.provider,
      clock: options.clock,
      failures: options.breakerFailures,
      cooldownMs: options.breakerCooldownMs,
    })
  }

  /** Whether the circuit breaker is open: calls are rejected. */
  get isCoolingDown(): boolean {
    return this.#breaker.isOpen
  }

  /** @throws {FleetError} `not-supported`, `driver-failed`, `breaker-open` */
  list(): Promise<SandboxListing> {
    return this.#read('list', '', async (signal) => {
      if (this.#driver.list === undefined) throw this.#unsupported('list')
      const listing = parseListing(await this.#driver.list({ signal }))
      if (listing === undefined) throw this.#failed('its list is none')
      return listing
    })
  }

  /** Never rejects: a probe that fails is `unknown`. */
  async inspect(target: SandboxTarget): Promise<SandboxProbe> {
    try {
      const inspect = (signal: AbortSignal) => this.#driver.inspect(target, { signal })
      return parseProbe(await this.#read('inspect', target.id, inspect))
    } catch (error) {
      return { state: 'unknown', detail: toText(error) }
    }
  }

  /** @throws {FleetError} `driver-failed`, `breaker-open` */
  terminate(target: SandboxTarget): Promise<void> {
    return this.#call({
      name: 'terminate',
      sandboxId: target.id,
      timeoutMs: this.#options.terminateTimeoutMs,
      attempts: 1,
      run: (signal) => this.#driver.terminate(target, { signal }),
    })
  }

  /** @throws {FleetError} `not-supported`, `driver-failed`, `breaker-open` */
  logs(target: SandboxTarget): Promise<string> {
    return this.#read('logs', target.id, async (signal) => {
      if (this.#driver.logs === undefined) throw this.#unsupported('logs')
      const text: unknown = await this.#driver.logs(target, { signal })
      if (typeof text !== 'string') throw this.#failed('logs are no text')
      return text
    })
  }

  /** @throws {FleetError} `not-supported`, `driver-failed`, `breaker-open` */
  resources(target: SandboxTarget): Promise<SandboxResources> {
    return this.#read('resources', target.id, async (signal) => {
      if (this.#driver.resources === undefined) throw this.#unsupported('resources')
      const { cpuPercent, memoryMb } = await this.#driver.resources(target, { signal })
      if (isMeasure(cpuPercent) && isMeasure(memoryMb)) return { cpuPercent, memoryMb }
      throw this.#failed('resources are no numbers')
    })
  }

  /** Whether passes may measure what its sandboxes use. */
  get canSample(): boolean {
    return this.#driver.resources !== undefined && this.#driver.isMeasuredOnRequest !== true
  }

  #read<T>(name: string, sandboxId: string, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { callTimeoutMs, retries } = this.#options
    return this.#call({ name, sandboxId, timeoutMs: callTimeoutMs, attempts: retries + 1, run })
  }

  async #call<T>(call: Call<T>): Promise<T> {
    const { clock, random } = this.#options
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#breaker.run(() => this.#attempt(call))
      } catch (error) {
        const isFinal = FleetError.isInstance(error) && error.code !== 'driver-failed'
        if (isFinal || attempt >= call.attempts) throw this.#toError(call, error)
      }
      await clock.sleep(backoffMs(attempt - 1, random))
    }
  }

  async #attempt<T>({ name, run, timeoutMs }: Call<T>): Promise<T> {
    const overrun = new AbortController()
    const onTimeout = (): FleetError => {
      const error = this.#failed(`${name} exceeded ${timeoutMs} ms`)
      overrun.abort(error)
      return error
    }
    return withDeadline(run(overrun.signal), { clock: this.#options.clock, timeoutMs, onTimeout })
  }

  #toError<T>({ name, sandboxId }: Call<T>, cause: unknown): FleetError {
    if (FleetError.isInstance(cause)) return cause
    const detail = HelixError.isInstance(cause) ? `: ${cause.message}` : ''
    return this.#failed(`${name} failed${detail}`, { cause, sandboxId })
  }

  #failed(detail: string, options: ErrorOptions & { readonly sandboxId?: string } = {}) {
    return new FleetError('driver-failed', `the provider ${this.provider}: ${detail}`, options)
  }

  #unsupported(what: string): FleetError {
    return new FleetError('not-supported', `the provider ${this.provider} does not support ${what}`)
  }
}

function isMeasure(value: number): boolean {
  return Number.isFinite(value) && value >= 0
}

function toText(error: unknown): string {
  const cause = causeText(error)
  return cause === undefined ? errorText(error) : `${errorText(error)} (${cause})`
}
