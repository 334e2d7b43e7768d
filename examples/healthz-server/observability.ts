import type { Logger } from '@helix-agents/core'
import type { WorkspaceMetrics } from '@helix-agents/core/runtime'
import { createPinoLogger } from '@helix-agents/telemetry/pino'
import { createPrometheusMetrics } from '@helix-agents/telemetry/prometheus'
import type { MetricsPage } from './app.ts'

export interface Observability {
  readonly logger: Logger
  /** What the executor counts with. */
  readonly metrics: WorkspaceMetrics
  /** The same, as `/metrics` shows it. */
  readonly page: MetricsPage
}

/** Lines of JSON on the standard output, and counters for Prometheus. */
export function createObservability(): Observability {
  const prometheus = createPrometheusMetrics()
  return { logger: createPinoLogger(), metrics: prometheus.metrics, page: prometheus }
}
