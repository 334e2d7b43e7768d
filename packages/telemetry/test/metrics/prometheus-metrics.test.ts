import { defineAgent } from '@helix-agents/core'
import { noopMetrics } from '@helix-agents/core/runtime'
import { createPrometheusMetrics } from '@helix-agents/telemetry/prometheus'
import { Counter, Registry } from 'prom-client'
import { describe, expect, test } from 'vitest'
import { boxes, calls, createExecutor, runToEnd, say } from '../harness.ts'
import { callAll, expectedPoints } from './every-metric.ts'
import { parseExposition } from './parse-exposition.ts'

async function read(prometheus: ReturnType<typeof createPrometheusMetrics>) {
  return parseExposition(await prometheus.text())
}

describe('the text', () => {
  test('has every metric, under the name that exporters of OpenTelemetry give it', async () => {
    const prometheus = createPrometheusMetrics()
    expect(Object.keys(prometheus.metrics).toSorted()).toEqual(Object.keys(noopMetrics).toSorted())
    callAll(prometheus.metrics)
    const { samples, kinds } = await read(prometheus)
    const plain = samples.filter(({ labels }) => !('le' in labels))
    const expected = expectedPoints.flatMap(([name, labels, value]) => {
      const base = name.replaceAll('.', '_')
      if (typeof value === 'number') {
        return [{ name: name === 'helix.workspaces' ? base : `${base}_total`, labels, value }]
      }
      return [
        { name: `${base}_seconds_count`, labels, value: value[0] },
        { name: `${base}_seconds_sum`, labels, value: value[1] },
      ]
    })
    expect(plain).toHaveLength(expected.length)
    expect(plain).toEqual(expect.arrayContaining(expected))
    expect(kinds.get('helix_workspaces')).toBe('gauge')
    expect(kinds.get('helix_workspace_opens_total')).toBe('counter')
    expect(kinds.get('helix_workspace_tool_duration_seconds')).toBe('histogram')
  })

  test('has buckets that rise to the count', async () => {
    const prometheus = createPrometheusMetrics()
    callAll(prometheus.metrics)
    const { samples } = await read(prometheus)
    const buckets = samples
      .filter(({ name }) => name === 'helix_workspace_tool_duration_seconds_bucket')
      .map(({ labels, value }) => [labels.le, value])
    expect(buckets).toContainEqual(['0.01', 0])
    expect(buckets).toContainEqual(['0.05', 1])
    expect(buckets).toContainEqual(['10', 2])
    expect(buckets.at(-1)).toEqual(['+Inf', 2])
    const counts = buckets.map(([, value]) => Number(value))
    expect(counts).toEqual(counts.toSorted((one, other) => one - other))
  })

  test('escapes what a label may not hold as it is', async () => {
    const prometheus = createPrometheusMetrics()
    const hostile = 'a"b\\c\nd{e="f"} 1'
    prometheus.metrics.incEviction({ workspace: hostile, providerId: 'x' })
    const { samples } = await read(prometheus)
    expect(samples).toContainEqual({
      name: 'helix_workspace_evictions_total',
      labels: { workspace: hostile, provider: 'x' },
      value: 1,
    })
  })

  test('is announced as what it is', () => {
    expect(createPrometheusMetrics().contentType).toMatch(/^text\/plain; version=0\.0\.4/)
  })
})

describe('labels are bounded', () => {
  test('further series share one, and none is made for a session', async () => {
    const prometheus = createPrometheusMetrics({ maxSeries: 2 })
    for (const workspace of ['a', 'b', 'c', 'd', 'a']) {
      prometheus.metrics.incEviction({ workspace, providerId: 'p' })
    }
    const { samples } = await read(prometheus)
    const counts = samples
      .filter(({ name }) => name === 'helix_workspace_evictions_total')
      .map(({ labels, value }) => [labels.workspace, labels.provider, value])
    expect(counts).toEqual([
      ['a', 'p', 2],
      ['b', 'p', 1],
      ['other', 'other', 2],
    ])
  })

  test('a gauge goes down where it went up', async () => {
    const prometheus = createPrometheusMetrics({ maxSeries: 1 })
    const { metrics } = prometheus
    for (const workspace of ['a', 'b']) {
      const box = { workspace, providerId: 'p' }
      metrics.setState(box, 'opening', 'declared')
      metrics.setState(box, 'failed', 'opening')
      metrics.setState(box, 'closing', 'failed')
      metrics.setState(box, 'closed', 'closing')
    }
    const { samples } = await read(prometheus)
    const states = samples.filter(({ name }) => name === 'helix_workspaces')
    expect(states.map(({ labels, value }) => [labels.state, value])).toEqual([
      ['opening', 0],
      ['other', 0],
    ])
  })
})

test('many sessions leave the gauge at zero and the counters at their number', async () => {
  const prometheus = createPrometheusMetrics()
  const agent = defineAgent({ name: 'a', llmConfig: { model: 'm' }, workspaces: boxes })
  for (const sessionId of ['s1', 's2', 's3']) {
    const steps = [calls(['workspace__box__ls', {}]), say('x')]
    await runToEnd(createExecutor(steps, { metrics: prometheus.metrics }), agent, sessionId)
  }
  const { samples } = await read(prometheus)
  const states = samples.filter(({ name }) => name === 'helix_workspaces')
  expect(states.map(({ value }) => value)).toEqual([0, 0, 0])
  expect(samples).toContainEqual(
    expect.objectContaining({ name: 'helix_workspace_opens_total', value: 3 }),
  )
})

test('while a session runs its workspace is in the gauge', async () => {
  const prometheus = createPrometheusMetrics()
  const agent = defineAgent({ name: 'a', llmConfig: { model: 'm' }, workspaces: boxes })
  let during = ''
  const look = async () => {
    during = await prometheus.text()
    return say('x')
  }
  const steps = [calls(['workspace__box__ls', {}]), look]
  await runToEnd(createExecutor(steps, { metrics: prometheus.metrics }), agent)
  const open = parseExposition(during).samples.find(({ labels }) => labels.state === 'open')
  expect(open?.value).toBe(1)
})

test('a registry of the application takes them in', async () => {
  const registry = new Registry()
  new Counter({ name: 'mine_total', help: 'Mine.', registers: [registry] }).inc()
  const prometheus = createPrometheusMetrics({ registry })
  callAll(prometheus.metrics)
  const names = (await read(prometheus)).samples.map(({ name }) => name)
  expect(names).toContain('mine_total')
  expect(names).toContain('helix_workspaces')
})
