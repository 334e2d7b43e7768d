import type { WorkspaceLabels, WorkspaceMetrics, WorkspaceState } from '@helix-agents/core/runtime'
import { BoundedLabels } from './bounded-labels.ts'
import { type MetricDefinition, METRICS } from './definitions.ts'

/** Writes to one counter, gauge or histogram; a histogram takes seconds. */
export type Instrument = (value: number, labels: Record<string, string>) => void

/** Bounds what one process may measure. */
export interface SeriesLimit {
  /**
   * Series of one metric; all further ones share one, whose labels are `other`. Default 1000.
   */
  readonly maxSeries?: number
}

const DEFAULT_MAX_SERIES = 1000

/** `declared` holds nothing yet, `closed` nothing any more: neither is counted. */
const UNCOUNTED: ReadonlySet<WorkspaceState> = new Set(['declared', 'closed'])

/** The metrics port of core over the instruments of some library. */
export function createWorkspaceMetrics(
  createInstrument: (definition: MetricDefinition) => Instrument,
  { maxSeries = DEFAULT_MAX_SERIES }: SeriesLimit = {},
): WorkspaceMetrics {
  const writerOf = (definition: MetricDefinition) => {
    const instrument = createInstrument(definition)
    const bounded = new BoundedLabels(definition.labels, maxSeries)
    return (labels: WorkspaceLabels, value: number, ...more: readonly string[]): void =>
      instrument(value, bounded.of(labels.workspace, labels.providerId, ...more))
  }
  return {
    ...openMetrics(writerOf),
    ...useMetrics(writerOf),
    ...fileMetrics(writerOf),
    ...stateMetrics(writerOf),
  }
}

type Writer = (labels: WorkspaceLabels, value: number, ...more: readonly string[]) => void
type WriterOf = (definition: MetricDefinition) => Writer

function openMetrics(writerOf: WriterOf) {
  const opens = writerOf(METRICS.opens)
  const openFailures = writerOf(METRICS.openFailures)
  const openDuration = writerOf(METRICS.openDuration)
  const transientRetries = writerOf(METRICS.transientRetries)
  const closes = writerOf(METRICS.closes)
  const closeTimeouts = writerOf(METRICS.closeTimeouts)
  return {
    incOpen: (labels, outcome) => opens(labels, 1, outcome),
    incOpenFailure: (labels, code) => openFailures(labels, 1, code),
    observeOpenMs: (labels, ms) => openDuration(labels, ms / 1000),
    incTransientRetry: (labels) => transientRetries(labels, 1),
    incClose: (labels, mode) => closes(labels, 1, mode),
    incCloseTimeout: (labels) => closeTimeouts(labels, 1),
  } satisfies Partial<WorkspaceMetrics>
}

function useMetrics(writerOf: WriterOf) {
  const evictions = writerOf(METRICS.evictions)
  const evictionRetries = writerOf(METRICS.evictionRetries)
  const toolCalls = writerOf(METRICS.toolCalls)
  const toolDuration = writerOf(METRICS.toolDuration)
  const policyRejections = writerOf(METRICS.policyRejections)
  return {
    incEviction: (labels) => evictions(labels, 1),
    incEvictionRetry: (labels) => evictionRetries(labels, 1),
    incToolCall: (labels, tool, outcome) => toolCalls(labels, 1, tool, outcome),
    observeToolMs: (labels, tool, ms) => toolDuration(labels, ms / 1000, tool),
    incPolicyRejection: (labels, code) => policyRejections(labels, 1, code),
  } satisfies Partial<WorkspaceMetrics>
}

function fileMetrics(writerOf: WriterOf) {
  const snapshots = writerOf(METRICS.snapshots)
  const snapshotDuration = writerOf(METRICS.snapshotDuration)
  return {
    incSnapshot: (labels, operation, outcome) => snapshots(labels, 1, operation, outcome),
    observeSnapshotMs: (labels, operation, ms) => snapshotDuration(labels, ms / 1000, operation),
  } satisfies Partial<WorkspaceMetrics>
}

function stateMetrics(writerOf: WriterOf) {
  const states = writerOf(METRICS.states)
  return {
    setState: (labels, state, previous) => {
      if (!UNCOUNTED.has(previous)) states(labels, -1, previous)
      if (!UNCOUNTED.has(state)) states(labels, 1, state)
    },
  } satisfies Partial<WorkspaceMetrics>
}
