// Metrics and alerts, from the telemetry package.
import {
  METRICS,
  type MetricDefinition,
} from '../../../packages/telemetry/src/metrics/definitions.ts'
import { prometheusAlertRules } from '../../../packages/telemetry/src/prometheus/alert-rules.ts'
import { code, table } from '../table.ts'

/** Labels that every metric has are said once, beside the table. */
const COMMON: readonly string[] = ['workspace', 'provider']

/** One row a metric. */
export function metricTable(): string {
  const definitions: readonly MetricDefinition[] = Object.values(METRICS)
  const rows = definitions.map((definition) => [
    code(prometheusName(definition)),
    definition.kind === 'seconds' ? 'histogram' : definition.kind,
    definition.labels
      .filter((label) => !COMMON.includes(label))
      .map(code)
      .join(' '),
    definition.description,
  ])
  return table(['metric', 'kind', 'more labels', 'counts'], rows)
}

export function alertRules(): string {
  return `\`\`\`yaml\n${prometheusAlertRules}\`\`\``
}

function prometheusName({ name, kind }: MetricDefinition): string {
  const base = name.replaceAll('.', '_')
  if (kind === 'gauge') return base
  return kind === 'counter' ? `${base}_total` : `${base}_seconds`
}
