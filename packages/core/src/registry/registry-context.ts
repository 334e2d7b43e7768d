import { RateLimitedLogger } from '../logging/rate-limited-logger.ts'
import { type Logger, noopLogger } from '../logging/logger.ts'
import type { Tracer } from '../telemetry/tracer.ts'
import { type Clock, systemClock } from '../time/clock.ts'
import type { WorkspaceLifecycleListener } from '../workspace/lifecycle-listener.ts'
import { noopMetrics, type WorkspaceMetrics } from '../workspace/metrics.ts'
import type { SessionRef } from '../workspace/provider.ts'
import { createOpenLimit, type OpenLimit } from './open-limit.ts'
import type { RegistryDeps } from './registry-deps.ts'

/** What all workspaces of one registry share: its dependencies, with the defaults filled in. */
export interface RegistryContext {
  readonly session: SessionRef
  /** By kind. */
  readonly providers: RegistryDeps['providers']
  readonly logger: Logger
  readonly auditLogger: RateLimitedLogger
  readonly metrics: WorkspaceMetrics
  readonly lifecycle: WorkspaceLifecycleListener | undefined
  readonly tracer: Tracer | undefined
  readonly clock: Clock
  readonly random: () => number
  readonly openLimit: OpenLimit
  readonly transientRetryAttempts: number
  readonly closeTimeoutMs: number
  readonly openTimeoutMs: number | undefined
  readonly resetAfterMs: number | undefined
  /** Aborts when the registry closes: opens belong to the registry, not to their callers. */
  readonly lifetime: AbortController
  readonly usedBefore: NonNullable<RegistryDeps['usedBefore']>
  readonly persistRef: RegistryDeps['persistRef']
  readonly changedBefore: NonNullable<RegistryDeps['changedBefore']>
  readonly restoreLost: NonNullable<RegistryDeps['restoreLost']>
  readonly snapshotTimeoutMs: number
  readonly onOwedDestroy: NonNullable<RegistryDeps['onOwedDestroy']>
}

export function createContext(deps: RegistryDeps): RegistryContext {
  const logger = deps.logger ?? noopLogger
  const clock = deps.clock ?? systemClock
  const securityWindowMs = deps.securityWindowMs ?? 60_000
  return {
    session: deps.session,
    providers: deps.providers,
    logger,
    auditLogger: new RateLimitedLogger({ logger, clock, securityWindowMs }),
    metrics: deps.metrics ?? noopMetrics,
    lifecycle: deps.lifecycle,
    tracer: deps.tracer,
    clock,
    random: deps.random ?? Math.random,
    openLimit: deps.openLimit ?? createOpenLimit(deps.maxConcurrentOpens),
    transientRetryAttempts: deps.transientRetryAttempts ?? 3,
    closeTimeoutMs: deps.closeTimeoutMs ?? 30_000,
    openTimeoutMs: deps.openTimeoutMs,
    resetAfterMs: deps.resetAfterMs,
    lifetime: new AbortController(),
    usedBefore: (name) => deps.usedBefore?.(name) ?? false,
    persistRef: (name, ref, releasesOld) => deps.persistRef(name, ref, releasesOld),
    changedBefore: (name) => deps.changedBefore?.(name) ?? 'unknown',
    restoreLost: async (name, signal) => deps.restoreLost?.(name, signal),
    snapshotTimeoutMs: deps.snapshotTimeoutMs ?? 60_000,
    onOwedDestroy: (owed) => deps.onOwedDestroy?.(owed),
  }
}
