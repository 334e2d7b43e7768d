import type { WorkspaceMetrics } from '@helix-agents/core/runtime'
import type { Meter } from '@opentelemetry/api'
import {
  createWorkspaceMetrics,
  type Instrument,
  type SeriesLimit,
} from '../metrics/create-workspace-metrics.ts'
import { DURATION_BUCKETS, type MetricDefinition } from '../metrics/definitions.ts'

/**
 * The metrics of workspaces on the instruments of an OpenTelemetry meter: counters, histograms in
 * seconds, and an up-down counter of the workspaces in each state. Give one meter to one call.
 */
export function createOpenTelemetryMetrics(
  meter: Meter,
  options: SeriesLimit = {},
): WorkspaceMetrics {
  return createWorkspaceMetrics((definition) => instrumentOf(meter, definition), options)
}

function instrumentOf(meter: Meter, { name, kind, description }: MetricDefinition): Instrument {
  if (kind === 'seconds') {
    const advice = { explicitBucketBoundaries: [...DURATION_BUCKETS] }
    const histogram = meter.createHistogram(name, { description, unit: 's', advice })
    return (value, labels) => histogram.record(value, labels)
  }
  const instrument =
    kind === 'gauge'
      ? meter.createUpDownCounter(name, { description, unit: '{workspace}' })
      : meter.createCounter(name, { description })
  return (value, labels) => instrument.add(value, labels)
}
