import { type Agent, StateStoreError } from '@helix-agents/core'
import type { SessionState } from '@helix-agents/core/runtime'
import type { RunServices } from '../../ports.ts'

/**
 * An import makes backends for a session that is not stored yet. Until it is, what is about to be made is
 * recorded with a session of its own, which all attempts to import the one share.
 */
export function importIdOf(sessionId: string): string {
  return `${sessionId}/import`
}

/**
 * Stores the record of imports of a session, unless an earlier attempt has left it.
 * @throws {StateStoreError} `conflict`: a session of another kind has its id.
 */
export async function createImportRecord(
  { stateStore, clock }: Pick<RunServices, 'stateStore' | 'clock'>,
  agent: Agent,
  sessionId: string,
): Promise<void> {
  const record = { sessionId: importIdOf(sessionId), parentSessionId: sessionId }
  const made = { ...record, agentType: agent.name, customState: undefined, now: clock.now() }
  try {
    await stateStore.createSession(made)
  } catch (error) {
    if (!StateStoreError.isInstance(error) || error.code !== 'conflict') throw error
    const found = await stateStore.loadSession(record.sessionId)
    if (found === null || !isImportRecord(found)) throw error
  }
}

function isImportRecord({ sessionId, parentSessionId }: SessionState): boolean {
  return parentSessionId !== undefined && sessionId === importIdOf(parentSessionId)
}

/** Removes a record of imports, once none has left anything. @returns whether it did */
export async function removeImportRecord(
  { stateStore, clock }: Pick<RunServices, 'stateStore' | 'clock'>,
  session: SessionState,
  graceMs: number,
): Promise<boolean> {
  const { sessionId, createdAt } = session
  // One that has just begun has recorded nothing yet.
  if (!isImportRecord(session) || clock.now() - createdAt < graceMs) return false
  const { released } = await stateStore.loadHistory(sessionId)
  if (released.length > 0) return false
  await stateStore.deleteSession(sessionId)
  return true
}
