import type { Checkpoint, SessionStateStore } from '@helix-agents/core/runtime'

/**
 * A checkpoint of a session.
 * @param checkpointId Default: the newest one.
 * @returns null when there is none.
 */
export async function findCheckpoint(
  stateStore: Pick<SessionStateStore, 'getCheckpoint' | 'listCheckpoints'>,
  sessionId: string,
  checkpointId: string | undefined,
): Promise<Checkpoint | null> {
  if (checkpointId !== undefined) return stateStore.getCheckpoint(sessionId, checkpointId)
  const { items } = await stateStore.listCheckpoints(sessionId, { limit: 1 })
  return items[0] ?? null
}
