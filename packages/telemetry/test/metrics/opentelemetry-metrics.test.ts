import { defineAgent } from '@helix-agents/core'
import { noopMetrics } from '@helix-agents/core/runtime'
import { createOpenTelemetryMetrics } from '@helix-agents/telemetry/opentelemetry'
import type { Meter } from '@opentelemetry/api'
import {
  AggregationTemporality,
  DataPointType,
  type Histogram,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import { expect, test } from 'vitest'
import { boxes, calls, createExecutor, runToEnd, say } from '../harness.ts'
import { callAll, expectedPoints, labels } from './every-metric.ts'

function recordMetrics() {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 })
  const provider = new MeterProvider({ readers: [reader] })
  const collect = async () => {
    const { resourceMetrics } = await reader.collect()
    await provider.shutdown()
    return resourceMetrics.scopeMetrics.flatMap(({ metrics }) => metrics)
  }
  return { meter: provider.getMeter('test'), collect }
}

type Collected = Awaited<ReturnType<ReturnType<typeof recordMetrics>['collect']>>

function pointsOf(metrics: Collected) {
  return metrics.flatMap(({ descriptor, dataPoints, dataPointType }) =>
    dataPoints.map(({ attributes, value }) => {
      if (dataPointType !== DataPointType.HISTOGRAM) return [descriptor.name, attributes, value]
      const { count, sum } = value as Histogram
      return [descriptor.name, attributes, [count, sum]]
    }),
  )
}

test('every method of the port is an instrument of the real SDK', async () => {
  const { meter, collect } = recordMetrics()
  const metrics = createOpenTelemetryMetrics(meter)
  expect(Object.keys(metrics).toSorted()).toEqual(Object.keys(noopMetrics).toSorted())
  callAll(metrics)
  const points = pointsOf(await collect())
  expect(points).toHaveLength(expectedPoints.length)
  expect(points).toEqual(expect.arrayContaining([...expectedPoints]))
})

test('each instrument has its words, its unit and its bounds', () => {
  const made: unknown[] = []
  const make = (name: string, options: unknown): { add: () => void; record: () => void } => {
    made.push([name, options])
    return { add: () => undefined, record: () => undefined }
  }
  const meter = { createHistogram: make, createUpDownCounter: make, createCounter: make }
  createOpenTelemetryMetrics(meter as unknown as Meter)
  expect(made).toContainEqual([
    'helix.workspace.open.duration',
    {
      description: 'Time of opens that succeeded.',
      unit: 's',
      advice: {
        explicitBucketBoundaries: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120],
      },
    },
  ])
  expect(made).toContainEqual([
    'helix.workspace.opens',
    { description: 'Workspaces opened or resolved.' },
  ])
  expect(made).toContainEqual([
    'helix.workspaces',
    expect.objectContaining({ unit: '{workspace}', description: expect.stringMatching(/\w/u) }),
  ])
})

test('durations are seconds, in buckets from a millisecond to two minutes', async () => {
  const { meter, collect } = recordMetrics()
  callAll(createOpenTelemetryMetrics(meter))
  const metrics = await collect()
  const units = metrics
    .filter(({ dataPointType }) => dataPointType === DataPointType.HISTOGRAM)
    .map(({ descriptor, dataPoints }) => {
      const { buckets } = dataPoints[0]!.value as Histogram
      return [descriptor.unit, buckets.boundaries[0], buckets.boundaries.at(-1)]
    })
  expect(units).toEqual([
    ['s', 0.001, 120],
    ['s', 0.001, 120],
    ['s', 0.001, 120],
  ])
})

test('what is counted only rises, but for the workspaces', async () => {
  const { meter, collect } = recordMetrics()
  callAll(createOpenTelemetryMetrics(meter))
  const metrics = await collect()
  const falling = metrics.filter(
    (metric) => metric.dataPointType === DataPointType.SUM && !metric.isMonotonic,
  )
  expect(falling.map(({ descriptor }) => descriptor.name)).toEqual(['helix.workspaces'])
})

test('a session that ended leaves no workspace behind', async () => {
  const { meter, collect } = recordMetrics()
  const metrics = createOpenTelemetryMetrics(meter)
  const agent = defineAgent({ name: 'a', llmConfig: { model: 'm' }, workspaces: boxes })
  const steps = [calls(['workspace__box__ls', {}]), say('x')]
  await runToEnd(createExecutor(steps, { metrics }), agent)
  const collected = await collect()
  const states = pointsOf(collected).filter(([name]) => name === 'helix.workspaces')
  expect(states).toEqual([
    ['helix.workspaces', { ...labels, state: 'opening' }, 0],
    ['helix.workspaces', { ...labels, state: 'open' }, 0],
    ['helix.workspaces', { ...labels, state: 'closing' }, 0],
  ])
  expect(JSON.stringify(pointsOf(collected))).not.toContain('session-1')
})
