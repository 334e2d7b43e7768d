import { traced } from '@helix-agents/core/runtime'
import type { RunServices } from '../ports.ts'

/** What is done with the files of a session. */
export type HistoryOperation = 'take' | 'restore' | 'diff' | 'move' | 'collect'

/** What a span and the metrics of an operation say of its subject. */
interface HistorySubject {
  readonly sessionId: string
  /** Absent for what is about all workspaces of a session. */
  readonly workspace?: string
  readonly providerId?: string
}

/** Stands in labels for all workspaces of a session. */
const ALL = 'all'

/** Runs an operation in its span `helix.snapshot.<operation>`, and counts and measures it. */
export async function observeHistory<T>(
  { tracer, metrics, clock }: Pick<RunServices, 'tracer' | 'metrics' | 'clock'>,
  operation: HistoryOperation,
  subject: HistorySubject,
  work: () => Promise<T>,
): Promise<T> {
  const { sessionId, workspace = ALL, providerId = ALL } = subject
  const labels = { workspace, providerId }
  const describe = () => ({
    name: `helix.snapshot.${operation}`,
    attributes: {
      'gen_ai.conversation.id': sessionId,
      'helix.workspace.name': workspace,
      'helix.workspace.provider': providerId,
    },
  })
  const startedAt = clock.now()
  try {
    const result = await traced(tracer, describe, work)
    metrics.incSnapshot(labels, operation, 'success')
    return result
  } catch (error) {
    metrics.incSnapshot(labels, operation, 'error')
    throw error
  } finally {
    metrics.observeSnapshotMs(labels, operation, clock.now() - startedAt)
  }
}
