import { createPrometheusMetrics, prometheusAlertRules } from '@helix-agents/telemetry/prometheus'
import { parse } from 'yaml'
import { expect, test } from 'vitest'
import { callAll } from './every-metric.ts'
import { parseExposition } from './parse-exposition.ts'

interface Rules {
  readonly groups: readonly { readonly rules: readonly Rule[] }[]
}

interface Rule {
  readonly alert: string
  readonly expr: string
  readonly for?: string
}

const rules = (parse(prometheusAlertRules) as Rules).groups.flatMap((group) => group.rules)

test('there is a rule for each of the four signals', () => {
  expect(rules.map(({ alert, for: time }) => [alert, time])).toEqual([
    ['HelixWorkspaceFailed', '5m'],
    ['HelixWorkspaceUnsuccessful', '2m'],
    ['HelixWorkspaceEvicted', '10m'],
    ['HelixWorkspaceManyErrors', undefined],
  ])
})

test('the rules name metrics and labels that exist', async () => {
  const prometheus = createPrometheusMetrics()
  callAll(prometheus.metrics)
  const { samples } = parseExposition(await prometheus.text())
  const metricNames = new Set(samples.map(({ name }) => name))
  const labelNames = new Set(samples.flatMap(({ labels }) => Object.keys(labels)))
  const expressions = rules.map(({ expr }) => expr).join('\n')
  const metrics = expressions.match(/helix_\w+/g) ?? []
  expect(new Set(metrics).size).toBe(3)
  expect(metrics.filter((name) => !metricNames.has(name))).toEqual([])
  const labels = [...expressions.matchAll(/by \((?<names>[^)]*)\)/g)].flatMap(
    (match) => match.groups?.names?.split(', ') ?? [],
  )
  expect(labels.length).toBeGreaterThan(4)
  expect(labels.filter((label) => !labelNames.has(label))).toEqual([])
})
