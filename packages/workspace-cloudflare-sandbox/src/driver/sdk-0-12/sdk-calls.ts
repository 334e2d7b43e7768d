import type { Clock } from '@helix-agents/core'
import { untilAborted } from '@helix-agents/core/provider'
import { DriverError } from '../driver-error.ts'
import type { ScriptCall } from '../remote/script-runner.ts'
import { type Classified, classifyError } from './classify-error.ts'
import { Liveness } from './liveness.ts'
import type { SandboxStub } from './stub.ts'

export interface SdkCallsOptions {
  /** Gives a stub that no failed call has touched. */
  readonly connect: () => Promise<SandboxStub>
  readonly clock: Clock
  readonly liveness: { readonly intervalMs: number; readonly silenceMs: number }
  /** Time a container may take to start, on top of the deadline of each call. */
  readonly startAllowanceMs: number
}

const LONGEST_RETRY_DELAY_MS = 3000
/** The platform lets no container go so soon after a call. */
const WARM_MS = 30_000

/**
 * Makes calls to one sandbox: none hangs for ever, each failure is a `DriverError`, and what
 * certainly did not run, or may run twice, is tried once more. What may not run twice never
 * starts a container that slept: so it is known that it did not run.
 */
export class SdkCalls {
  readonly #options: SdkCallsOptions
  #stub: Promise<SandboxStub> | undefined
  #lastTakenMs = -Infinity

  constructor(options: SdkCallsOptions) {
    this.#options = options
  }

  /** @param call One call of the stub, one round trip. */
  async make<T>(call: (stub: SandboxStub) => Promise<T>, options: ScriptCall): Promise<T> {
    try {
      return await this.#attempt(call, options)
    } catch (thrown) {
      if (options.signal?.aborted) throw thrown
      const failure = classifyError(thrown)
      if (!mayRepeat(failure, options)) throw failure.error
      const delayMs = Math.min(failure.error.retryAfterMs ?? 0, LONGEST_RETRY_DELAY_MS)
      if (delayMs > 0) await this.#options.clock.sleep(delayMs, options.signal)
      return this.#again(call, options)
    }
  }

  /** Drops the stub; the next call connects again. */
  forget(): void {
    this.#stub = undefined
  }

  async #again<T>(call: (stub: SandboxStub) => Promise<T>, options: ScriptCall): Promise<T> {
    try {
      return await this.#attempt(call, options)
    } catch (thrown) {
      if (options.signal?.aborted) throw thrown
      throw classifyError(thrown).error
    }
  }

  async #attempt<T>(call: (stub: SandboxStub) => Promise<T>, options: ScriptCall): Promise<T> {
    const { clock, liveness } = this.#options
    options.signal?.throwIfAborted()
    const idleMs = clock.now() - this.#lastTakenMs
    const wasWarm = idleMs < WARM_MS
    const maySleep = !wasWarm && idleMs < Infinity
    const probe = async (): ReturnType<SandboxStub['getState']> => (await this.#take()).getState()
    const watch = new Liveness({ clock, ...liveness, wasWarm }, probe)
    const deadline = this.#deadline(options, watch)
    const begin = async (): Promise<T> => {
      if (maySleep && !options.isRepeatable && isStopped(await probe())) throw asleep()
      return call(await this.#take())
    }
    try {
      const made = begin()
      const first = Promise.race([made, watch.dead, deadline.passed])
      const value = await untilAborted(first, options.signal)
      this.#lastTakenMs = clock.now()
      return value
    } catch (thrown) {
      // A stub may be broken by what it threw.
      this.forget()
      throw thrown
    } finally {
      watch.stop()
      deadline.cancel()
    }
  }

  #take(): Promise<SandboxStub> {
    this.#stub ??= this.#options.connect()
    return this.#stub
  }

  #deadline(
    { deadlineMs }: ScriptCall,
    watch: Liveness,
  ): { readonly passed: Promise<never>; cancel(): void } {
    const { clock, startAllowanceMs } = this.#options
    const { promise, reject } = Promise.withResolvers<never>()
    const fail = (): void =>
      reject(
        new DriverError('interrupted', 'the sandbox did not answer in time', {
          admitted: 'unknown',
        }),
      )
    let cancel = clock.setTimer(deadlineMs, () => {
      if (watch.wasAlive) return fail()
      cancel = clock.setTimer(startAllowanceMs, fail)
    })
    return { passed: promise, cancel: () => cancel() }
  }
}

function mayRepeat({ error, isRetryable }: Classified, { isRepeatable }: ScriptCall): boolean {
  return isRetryable && (error.admitted === 'no' || isRepeatable)
}

function isStopped({ status }: Awaited<ReturnType<SandboxStub['getState']>>): boolean {
  return status === 'stopped' || status === 'stopped_with_code'
}

function asleep(): DriverError {
  const detail = 'the container was stopped before the operation'
  return new DriverError('interrupted', detail, { admitted: 'no', reason: 'asleep' })
}
