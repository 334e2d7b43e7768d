import { systemClock } from '@helix-agents/core'
import { RateLimitedLogger } from '@helix-agents/core/runtime'
import { ToolSets } from '../call/tool-sets.ts'
import { type ExecutorParts, parseLeaseMs } from '../executor/check-arguments.ts'
import type { JSAgentExecutorOptions } from '../executor/executor-options.ts'
import { toProviderMap } from '../executor/provider-map.ts'
import { guardLogger, guardMetrics } from '../observe/guard-observers.ts'
import type { RunServices } from '../ports.ts'
import { ActiveRuns } from './active-runs.ts'

/**
 * What the runs of an executor share, from its options and their defaults.
 * @throws {WorkspaceFailedError} `config-invalid` for providers that cannot be told apart.
 * @throws {RangeError} for a `leaseMs` that is not a time.
 */
export function createServices(
  parts: ExecutorParts,
  options: JSAgentExecutorOptions,
  launch: RunServices['launch'],
): RunServices {
  const providers = toProviderMap(options.workspaceProviders)
  const { workspaceMaxConcurrentOpens: maxConcurrentOpens, clock = systemClock } = options
  const logger = guardLogger(options.logger)
  return {
    ...parts,
    providers,
    registryTuning: {
      ...options.workspaceRegistry,
      ...(maxConcurrentOpens !== undefined && { maxConcurrentOpens }),
    },
    openEagerly: options.workspaceOpenStrategy === 'eager',
    logger,
    rateLimitedLogger: new RateLimitedLogger({ logger, clock }),
    metrics: guardMetrics(options.metrics, logger),
    lifecycle: options.lifecycle,
    tracer: options.tracer,
    onRequest: options.onRequest,
    clock,
    leaseMs: parseLeaseMs(options.leaseMs),
    active: new ActiveRuns(),
    toolSets: new ToolSets(providers),
    turnQueue: options.turnQueue,
    launch,
  }
}
