import type { SessionState, StreamChunk, StreamManager } from '@helix-agents/core'

/** Ends the stream of a run that is over, as its session says it ended. */
export async function tellEnd(
  streamManager: StreamManager,
  session: SessionState,
  now: number,
): Promise<void> {
  if (session.runId === undefined) return
  await streamManager.endRun(session.sessionId, session.runId, lastChunk(session, now))
}

function lastChunk(
  { runId = '', agentType, status, output, error }: SessionState,
  timestamp: number,
): StreamChunk | undefined {
  const base = { agentId: runId, agentType, timestamp }
  if (status === 'completed') return { ...base, type: 'output', output }
  if (status !== 'failed' || error === undefined) return undefined
  return { ...base, type: 'error', code: error.code, message: error.message }
}
