/** Labels that every metric has, in the order in which they are given. */
const WORKSPACE = ['workspace', 'provider'] as const

/** Upper bounds in seconds: from a file in memory to a container that starts. */
export const DURATION_BUCKETS: readonly number[] = [
  0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120,
]

export interface MetricDefinition {
  /** Dotted, as in OpenTelemetry. */
  readonly name: string
  readonly kind: 'counter' | 'gauge' | 'seconds'
  readonly description: string
  readonly labels: readonly string[]
}

function counter(name: string, description: string, ...labels: string[]): MetricDefinition {
  return { name, kind: 'counter', description, labels: [...WORKSPACE, ...labels] }
}

function seconds(name: string, description: string, ...labels: string[]): MetricDefinition {
  return { name, kind: 'seconds', description, labels: [...WORKSPACE, ...labels] }
}

/** All metrics of the workspace layer. */
export const METRICS = {
  opens: counter('helix.workspace.opens', 'Workspaces opened or resolved.', 'outcome'),
  openFailures: counter('helix.workspace.open.failures', 'Opens that failed.', 'code'),
  openDuration: seconds('helix.workspace.open.duration', 'Time of opens that succeeded.'),
  evictions: counter('helix.workspace.evictions', 'Backends that were found gone.'),
  evictionRetries: counter(
    'helix.workspace.eviction.retries',
    'Operations that succeeded after their workspace was resolved again.',
  ),
  transientRetries: counter(
    'helix.workspace.transient.retries',
    'Opens retried after a transient error.',
  ),
  closes: counter('helix.workspace.closes', 'Workspaces closed or detached.', 'mode'),
  closeTimeouts: counter('helix.workspace.close.timeouts', 'Closes that took too long.'),
  toolCalls: counter('helix.workspace.tool.calls', 'Calls of workspace tools.', 'tool', 'outcome'),
  toolDuration: seconds('helix.workspace.tool.duration', 'Time of workspace tools.', 'tool'),
  policyRejections: counter(
    'helix.workspace.policy.rejections',
    'Tool calls rejected by policy.',
    'code',
  ),
  snapshots: counter(
    'helix.workspace.snapshots',
    'Files of sessions that were taken, restored, compared, moved or collected.',
    'operation',
    'outcome',
  ),
  snapshotDuration: seconds(
    'helix.workspace.snapshot.duration',
    'Time of these operations.',
    'operation',
  ),
  states: {
    name: 'helix.workspaces',
    kind: 'gauge',
    description: 'Workspaces of running sessions by state.',
    labels: [...WORKSPACE, 'state'],
  },
} as const satisfies Readonly<Record<string, MetricDefinition>>

export type MetricKey = keyof typeof METRICS
