import type { Clock } from '@helix-agents/core'
import type {
  SessionState,
  SessionStateStore,
  StoredError,
  StreamManager,
} from '@helix-agents/core/runtime'
import { endStream } from '@helix-agents/runtime-js'

const LEASE_MS = 60_000

interface CutOffParts {
  readonly stateStore: SessionStateStore
  readonly streamManager: StreamManager
  readonly clock: Clock
}

/** How a run ends that its instance did not end. */
export type CutOffEnd =
  | { readonly status: 'failed'; readonly error: StoredError }
  | { readonly status: 'interrupted' }

/** Ends a run that no process drives any more, and its stream. */
export async function endCutOffRun(
  { stateStore, streamManager, clock }: CutOffParts,
  { sessionId, agentType }: SessionState,
  end: CutOffEnd,
): Promise<void> {
  const runId = crypto.randomUUID()
  const now = clock.now()
  await stateStore.beginRun({ sessionId, runId, now, leaseMs: LEASE_MS })
  await streamManager.resumeRun(sessionId, runId, agentType)
  const ended = await stateStore.endRun({ sessionId, runId, now, ...end })
  await endStream({ streamManager, clock }, ended)
}
