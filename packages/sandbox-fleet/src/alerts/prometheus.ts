import type { FleetStats } from '../fleet-stats.ts'
import type { Alert, AlertName } from './alert.ts'

const ALERT_NAMES: readonly AlertName[] = [
  'sandbox_timeout_high',
  'sandbox_leak_detected',
  'sandbox_cleanup_not_running',
  'sandbox_destroy_owed',
]

interface Metric {
  readonly name: string
  readonly type: 'gauge' | 'counter'
  readonly help: string
  readonly samples: readonly (readonly [labels: Readonly<Record<string, string>>, value: number])[]
}

/** Counts, usage and alerts in the text format of Prometheus 0.0.4. */
export function toPrometheusText(stats: FleetStats, alerts: readonly Alert[]): string {
  const { environment } = stats
  const lines = metricsOf(stats, alerts).flatMap(({ name, type, help, samples }) => [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} ${type}`,
    ...samples.map(([labels, value]) => `${name}${labelText({ environment, ...labels })} ${value}`),
  ])
  return `${lines.join('\n')}\n`
}

function metricsOf(stats: FleetStats, alerts: readonly Alert[]): readonly Metric[] {
  const { capacity, detached, failed, provisioning, running, terminating, usage } = stats
  const statuses = Object.entries({ provisioning, running, detached, terminating, failed })
  return [
    {
      name: 'helix_fleet_sandboxes',
      type: 'gauge',
      help: 'Sandboxes that are not terminated, by status.',
      samples: statuses.map(([status, value]) => [{ status }, value]),
    },
    gauge('helix_fleet_active', 'Sandboxes that count against capacity.', stats.active),
    gauge('helix_fleet_capacity', 'Sandboxes that may be active at once.', capacity),
    counter('helix_fleet_created_total', 'Sandboxes ever created.', stats.totalCreated),
    counter('helix_fleet_destroyed_total', 'Sandboxes confirmed gone.', stats.totalDestroyed),
    gauge('helix_fleet_window_executions', 'Operations in the alert window.', usage.executions),
    gauge(
      'helix_fleet_window_timeouts',
      'Operations of the window that timed out.',
      usage.timeouts,
    ),
    gauge(
      'helix_fleet_last_cleanup_timestamp_seconds',
      'End of the last cleanup. 0: never.',
      (stats.lastCleanupAt ?? 0) / 1000,
    ),
    {
      name: 'helix_fleet_alert_firing',
      type: 'gauge',
      help: 'Whether an alert is firing.',
      samples: ALERT_NAMES.map((alert) => [{ alert }, alerts.some(isFiring(alert)) ? 1 : 0]),
    },
  ]
}

function isFiring(alert: AlertName): (one: Alert) => boolean {
  return ({ name, state }) => name === alert && state === 'firing'
}

function gauge(name: string, help: string, value: number): Metric {
  return { name, type: 'gauge', help, samples: [[{}, value]] }
}

function counter(name: string, help: string, value: number): Metric {
  return { name, type: 'counter', help, samples: [[{}, value]] }
}

function labelText(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`)
  return `{${pairs.join(',')}}`
}

function escaped(value: string): string {
  return value
    .replaceAll('\\', String.raw`\\`)
    .replaceAll('"', String.raw`\"`)
    .replaceAll('\n', String.raw`\n`)
}
