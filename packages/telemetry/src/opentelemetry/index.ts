export type { SeriesLimit } from '../metrics/create-workspace-metrics.ts'
export { createOpenTelemetryMetrics } from './opentelemetry-metrics.ts'
