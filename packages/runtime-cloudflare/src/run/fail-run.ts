import type {
  Clock,
  SessionState,
  SessionStateStore,
  StoredError,
  StreamManager,
} from '@helix-agents/core'
import { endStream } from '@helix-agents/runtime-js'

const LEASE_MS = 60_000

interface FailRunParts {
  readonly stateStore: SessionStateStore
  readonly streamManager: StreamManager
  readonly clock: Clock
}

/** Ends a run that nobody carries any more as failed, and tells its readers. */
export async function failRun(
  { stateStore, streamManager, clock }: FailRunParts,
  { sessionId, agentType }: SessionState,
  error: StoredError,
): Promise<void> {
  const runId = crypto.randomUUID()
  const now = clock.now()
  await stateStore.beginRun({ sessionId, runId, now, leaseMs: LEASE_MS })
  await streamManager.resumeRun(sessionId, runId, agentType)
  const ended = await stateStore.endRun({ sessionId, runId, now, status: 'failed', error })
  await endStream({ streamManager, clock }, ended)
}
