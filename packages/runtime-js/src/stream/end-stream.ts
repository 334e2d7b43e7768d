import type { Clock } from '@helix-agents/core'
import type { SessionState, StreamChunk, StreamManager } from '@helix-agents/core/runtime'

/** How the last run of a session has ended. */
export type StreamEnd = Pick<
  SessionState,
  'sessionId' | 'runId' | 'agentType' | 'status' | 'output' | 'error'
>

/**
 * Ends the stream of the last run of a session with the chunk that reports how the run ended.
 * Any process may do it first: the stored session says enough, so that the process of the run need
 * not live any more. For runtimes.
 */
export async function endStream(
  { streamManager, clock }: { readonly streamManager: StreamManager; readonly clock: Clock },
  end: StreamEnd,
): Promise<void> {
  if (end.runId === undefined) return
  await streamManager.endRun(end.sessionId, end.runId, lastChunk(end, end.runId, clock.now()))
}

function lastChunk(
  { agentType, status, output, error }: StreamEnd,
  agentId: string,
  timestamp: number,
): StreamChunk | undefined {
  const base = { agentId, agentType, timestamp }
  if (status === 'completed') return { ...base, type: 'output', output }
  if (status !== 'failed' || error === undefined) return undefined
  return { ...base, type: 'error', code: error.code, message: error.message }
}
