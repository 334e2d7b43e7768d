import type { WorkspaceMetrics } from '@helix-agents/core/runtime'

const box = { workspace: 'box', providerId: 'in-memory' }

/** Calls every method of the port, each with numbers of its own. */
export function callAll(metrics: WorkspaceMetrics): void {
  metrics.incOpen(box, 'created')
  metrics.incOpen(box, 'created')
  metrics.incOpen(box, 'cold')
  metrics.incOpenFailure(box, 'provider-failed')
  metrics.observeOpenMs(box, 250)
  metrics.incEviction(box)
  metrics.incEvictionRetry(box)
  metrics.incTransientRetry(box)
  metrics.incClose(box, 'detach')
  metrics.incCloseTimeout(box)
  metrics.incToolCall(box, 'read_file', 'error')
  metrics.observeToolMs(box, 'read_file', 20)
  metrics.observeToolMs(box, 'read_file', 7000)
  metrics.incPolicyRejection(box, 'path-denied')
  metrics.incSnapshot(box, 'take', 'success')
  metrics.observeSnapshotMs(box, 'take', 30)
  metrics.setState(box, 'opening', 'declared')
  metrics.setState(box, 'open', 'opening')
}

export const labels = { workspace: 'box', provider: 'in-memory' }

/** What `callAll` leaves: name in OpenTelemetry, labels, value; of a histogram count and sum. */
type Point = readonly [
  name: string,
  labels: Readonly<Record<string, string>>,
  value: number | readonly [count: number, sum: number],
]

export const expectedPoints: readonly Point[] = [
  ['helix.workspace.opens', { ...labels, outcome: 'created' }, 2],
  ['helix.workspace.opens', { ...labels, outcome: 'cold' }, 1],
  ['helix.workspace.open.failures', { ...labels, code: 'provider-failed' }, 1],
  ['helix.workspace.open.duration', labels, [1, 0.25]],
  ['helix.workspace.evictions', labels, 1],
  ['helix.workspace.eviction.retries', labels, 1],
  ['helix.workspace.transient.retries', labels, 1],
  ['helix.workspace.closes', { ...labels, mode: 'detach' }, 1],
  ['helix.workspace.close.timeouts', labels, 1],
  ['helix.workspace.tool.calls', { ...labels, tool: 'read_file', outcome: 'error' }, 1],
  ['helix.workspace.tool.duration', { ...labels, tool: 'read_file' }, [2, 7.02]],
  ['helix.workspace.policy.rejections', { ...labels, code: 'path-denied' }, 1],
  ['helix.workspace.snapshots', { ...labels, operation: 'take', outcome: 'success' }, 1],
  ['helix.workspace.snapshot.duration', { ...labels, operation: 'take' }, [1, 0.03]],
  ['helix.workspaces', { ...labels, state: 'opening' }, 0],
  ['helix.workspaces', { ...labels, state: 'open' }, 1],
]
