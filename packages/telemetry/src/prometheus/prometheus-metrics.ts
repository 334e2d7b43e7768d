import type { WorkspaceMetrics } from '@helix-agents/core/runtime'
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import {
  createWorkspaceMetrics,
  type Instrument,
  type SeriesLimit,
} from '../metrics/create-workspace-metrics.ts'
import { DURATION_BUCKETS, type MetricDefinition } from '../metrics/definitions.ts'

/** Options of `createPrometheusMetrics`. */
export interface PrometheusMetricsOptions extends SeriesLimit {
  /** Registry of the metrics; it may hold your own as well. Default: a new one. */
  readonly registry?: Registry
}

/** Metrics of workspaces and their text format. */
export interface PrometheusMetrics {
  /** Pass it to the executor as `metrics`. */
  readonly metrics: WorkspaceMetrics
  /** All metrics of the registry in the text format of Prometheus. */
  text(): Promise<string>
  /** The header `content-type` of that text. */
  readonly contentType: string
}

/**
 * The metrics of workspaces for Prometheus to scrape, in Node and on Workers. On Workers each
 * isolate counts for itself.
 */
export function createPrometheusMetrics(options: PrometheusMetricsOptions = {}): PrometheusMetrics {
  const { registry = new Registry() } = options
  return {
    metrics: createWorkspaceMetrics((definition) => instrumentOf(registry, definition), options),
    text: () => registry.metrics(),
    contentType: registry.contentType,
  }
}

function instrumentOf(registry: Registry, definition: MetricDefinition): Instrument {
  const { kind, description, labels } = definition
  const name = prometheusName(definition)
  const settings = { name, help: description, labelNames: [...labels], registers: [registry] }
  if (kind === 'seconds') {
    const histogram = new Histogram({ ...settings, buckets: [...DURATION_BUCKETS] })
    return (value, values) => histogram.observe(values, value)
  }
  const instrument = kind === 'gauge' ? new Gauge(settings) : new Counter(settings)
  return (value, values) => instrument.inc(values, value)
}

/** As exporters of OpenTelemetry translate the name, so that dashboards fit both. */
function prometheusName({ name, kind }: MetricDefinition): string {
  const base = name.replaceAll('.', '_')
  if (kind === 'gauge') return base
  return kind === 'counter' ? `${base}_total` : `${base}_seconds`
}
