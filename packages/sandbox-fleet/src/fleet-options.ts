import { type Clock, type Logger, noopLogger, systemClock } from '@helix-agents/core'
import { FleetError } from '@helix-agents/core/runtime'
import type { FleetDriver } from './driver/fleet-driver.ts'
import { GuardedDriver } from './driver/guarded-driver.ts'
import type { FleetContext, FleetEvent } from './fleet-context.ts'
import { LedgerClock } from './ledger-clock.ts'
import { runCallback } from './run-callback.ts'
import { LeaseWatch } from './safety/lease-watch.ts'
import { type FleetPolicy, type FleetPolicyInput, parseFleetPolicy } from './safety/fleet-policy.ts'
import { type SafetyRules, safetyRules } from './safety/safety-rules.ts'
import type { FleetStore } from './store/fleet-store.ts'

/** Receives events of sandboxes. Not awaited; what it throws or rejects with is logged. */
export type FleetEventSink = (event: FleetEvent) => void

/** Options of a fleet without its alerts. */
export interface FleetContextOptions {
  /** The ledger. */
  readonly store: FleetStore
  /** One for each provider whose sandboxes are managed. */
  readonly drivers: readonly FleetDriver[]
  /** Label of this deployment, such as `production`: nothing without it is ever ended. */
  readonly environment: string
  /** Values that differ from the defaults. */
  readonly policy?: FleetPolicyInput
  /** Default: no log. A pino logger fits as it is. */
  readonly logger?: Logger
  /** Default: the time of the machine. */
  readonly clock?: Clock
  /** Receives events of sandboxes, for metrics and data points. Default: none. */
  readonly onEvent?: FleetEventSink | readonly FleetEventSink[]
  /** Numbers in [0, 1) for jitter. Default `Math.random`. */
  readonly random?: () => number
  /** Identifies this process. Default: a random id. */
  readonly instanceId?: string
}

/**
 * What the parts of a fleet share.
 * @throws {FleetError} `config-invalid`
 */
export function createFleetContext(
  options: FleetContextOptions,
  rules: SafetyRules = safetyRules,
): FleetContext {
  const { environment, store } = options
  if (typeof environment !== 'string' || environment.trim() === '') {
    throw new FleetError('config-invalid', 'a fleet needs the label of its environment')
  }
  const policy = parseFleetPolicy(options.policy)
  const ownClock = options.clock ?? systemClock
  const random = options.random ?? Math.random
  const logger = options.logger ?? noopLogger
  const proofMs = proofMsOf(store, policy)
  const { ownerLeaseMs } = policy
  const leases = new LeaseWatch({ clock: ownClock, proofMs, doubtMs: ownerLeaseMs })
  const onLeap = (): void => leases.doubt()
  const clock = new LedgerClock({ clock: ownClock, store, policy, logger, onLeap })
  return {
    store,
    drivers: guardDrivers(options.drivers, { policy, clock: ownClock, random }),
    environment,
    policy,
    rules,
    leases,
    clock,
    random,
    logger,
    instanceId: options.instanceId ?? crypto.randomUUID(),
    emit: emitterOf(options.onEvent, { clock, logger }),
  }
}

/** A ledger with a clock, or whose writers all have right ones, needs no proof. */
function proofMsOf(store: FleetStore, policy: FleetPolicy): number {
  const isTrusted = store.now !== undefined || store.hasRightClocks === true
  return isTrusted ? 0 : (policy.leaseProofMs ?? policy.ownerLeaseMs)
}

function guardDrivers(
  drivers: readonly FleetDriver[],
  { policy, clock, random }: { policy: FleetPolicy; clock: Clock; random: () => number },
): ReadonlyMap<string, GuardedDriver> {
  const guarded = new Map<string, GuardedDriver>()
  for (const driver of drivers) {
    if (guarded.has(driver.provider)) {
      throw new FleetError('config-invalid', `two drivers are of the provider ${driver.provider}`)
    }
    guarded.set(
      driver.provider,
      new GuardedDriver(driver, {
        clock,
        random,
        callTimeoutMs: policy.callTimeoutMs,
        terminateTimeoutMs: policy.terminateTimeoutMs,
        retries: policy.callRetries,
        breakerFailures: policy.breakerFailures,
        breakerCooldownMs: policy.breakerCooldownMs,
      }),
    )
  }
  return guarded
}

function emitterOf(
  sinks: FleetContextOptions['onEvent'] = [],
  { clock, logger }: { clock: Clock; logger: Logger },
): FleetContext['emit'] {
  const list = typeof sinks === 'function' ? [sinks] : sinks
  const onError = (err: unknown): void => logger.warn({ err }, 'sandbox event sink failed')
  return (type, { id, provider, environment, kill }) => {
    const hasReason = kill !== undefined && type !== 'created' && type !== 'started'
    const event = {
      type,
      sandboxId: id,
      provider,
      environment,
      at: clock.now(),
      ...(hasReason && { reason: kill.reason }),
    }
    for (const sink of list) runCallback(() => sink(event), onError)
  }
}
