import type { Clock } from '@helix-agents/core'
import { FleetError } from '@helix-agents/core/runtime'
import { circuitBreaker, CircuitState, ConsecutiveBreaker, handleWhen } from 'cockatiel'

export interface CircuitBreakerOptions {
  readonly provider: string
  readonly clock: Clock
  /** Consecutive failures after which the breaker opens. */
  readonly failures: number
  /** Time before one call is let through to probe the provider, in milliseconds. */
  readonly cooldownMs: number
}

export interface CircuitBreaker {
  /** @throws {FleetError} `breaker-open` */
  run<T>(call: () => Promise<T>): Promise<T>
  readonly isOpen: boolean
}

/**
 * Rejects calls of a provider that keeps failing. The library counts failures and lets one probing
 * call through at a time; the cooldown is measured by the given clock.
 */
export function createCircuitBreaker(options: CircuitBreakerOptions): CircuitBreaker {
  const { clock, failures, provider, cooldownMs } = options
  const policy = circuitBreaker(
    handleWhen((error) => !(FleetError.isInstance(error) && error.code === 'not-supported')),
    { halfOpenAfter: 0, breaker: new ConsecutiveBreaker(failures) },
  )
  let openedAt = 0
  policy.onBreak(() => {
    openedAt = clock.now()
  })
  const isCoolingDown = (): boolean => {
    const elapsedMs = clock.now() - openedAt
    // A clock that was set back must not prolong the cooldown.
    return policy.state === CircuitState.Open && elapsedMs >= 0 && elapsedMs < cooldownMs
  }
  return {
    run: async (call) => {
      // While one call probes the provider, the others are rejected.
      const isProbing = policy.state === CircuitState.HalfOpen
      if (!isCoolingDown() && !isProbing) return policy.execute(call)
      throw new FleetError('breaker-open', `the provider ${provider} failed too often`, {
        hint: 'Calls are let through again after the cooldown.',
      })
    },
    get isOpen() {
      return isCoolingDown()
    },
  }
}
