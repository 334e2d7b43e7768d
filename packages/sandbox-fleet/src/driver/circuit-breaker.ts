import type { Clock } from '@helix-agents/core'
import { FleetError } from '@helix-agents/core/runtime'
import { circuitBreaker, CircuitState, ConsecutiveBreaker, handleWhen } from 'cockatiel'

export interface CircuitBreakerOptions {
  readonly provider: string
  readonly clock: Clock
  /** Failures in a row after which calls are refused. */
  readonly failures: number
  /** How long they are refused before one is let through to see. */
  readonly restMs: number
}

export interface CircuitBreaker {
  /** @throws {FleetError} `breaker-open` */
  run<T>(call: () => Promise<T>): Promise<T>
  readonly isOpen: boolean
}

/**
 * Leaves a provider alone that fails all the time. The library counts and lets one call through
 * at a time; how long a rest is, this clock says.
 */
export function createCircuitBreaker(options: CircuitBreakerOptions): CircuitBreaker {
  const { clock, failures, provider, restMs } = options
  const policy = circuitBreaker(
    handleWhen((error) => !(FleetError.isInstance(error) && error.code === 'not-supported')),
    { halfOpenAfter: 0, breaker: new ConsecutiveBreaker(failures) },
  )
  let openedAt = 0
  policy.onBreak(() => {
    openedAt = clock.now()
  })
  const isResting = (): boolean => {
    const restedMs = clock.now() - openedAt
    // A clock that was set back must not make it rest until its time comes again.
    return policy.state === CircuitState.Open && restedMs >= 0 && restedMs < restMs
  }
  return {
    run: async (call) => {
      // While one looks whether it works again, the others do not wait to be the next.
      const isTrying = policy.state === CircuitState.HalfOpen
      if (!isResting() && !isTrying) return policy.execute(call)
      throw new FleetError('breaker-open', `the provider ${provider} failed too often`, {
        hint: 'It is tried again after a while.',
      })
    },
    get isOpen() {
      return isResting()
    },
  }
}
