import {
  type Agent,
  AgentAlreadyRunningError,
  SessionError,
  StateStoreError,
} from '@helix-agents/core'
import type { Checkpoint, SessionState } from '@helix-agents/core/runtime'
import { abortSubAgents } from '../session/abort-session.ts'
import { loadOwnSession } from '../session/load-own-session.ts'
import { findOpenCalls } from '../call/find-open-calls.ts'
import type { RunServices } from '../ports.ts'

/** Takes a session that does not run back to a checkpoint; resolves to its last run. */
export async function restoreSession(
  services: RunServices,
  agent: Agent,
  at: { readonly sessionId: string; readonly checkpointId: string },
): Promise<string | undefined> {
  const { active } = services
  await active.untilEnded(at.sessionId)
  active.reserve(at.sessionId)
  try {
    return await restoreReserved(services, agent, at)
  } finally {
    active.release(at.sessionId)
  }
}

async function restoreReserved(
  services: RunServices,
  agent: Agent,
  { sessionId, checkpointId }: { readonly sessionId: string; readonly checkpointId: string },
): Promise<string | undefined> {
  const { stateStore } = services
  const before = await loadOwnSession(services, agent, sessionId)
  const checkpoint = await stateStore.getCheckpoint(sessionId, checkpointId)
  if (checkpoint === null) {
    throw new SessionError('not-resumable', sessionId, `it has no checkpoint ${checkpointId}`)
  }
  const offset = checkpoint.messageCount
  const { messages: undone } = await stateStore.loadMessages(sessionId, { offset })
  await restore(services, checkpoint)
  const calls = findOpenCalls(undone)
  await abortSubAgents(services, agent, { sessionId, stepCount: before.stepCount, calls })
  await notifyReaders(services, agent, before)
  return before.runId
}

async function restore(
  { stateStore, clock }: RunServices,
  { sessionId, id }: Checkpoint,
): Promise<void> {
  try {
    await stateStore.restoreCheckpoint(sessionId, id, clock.now())
  } catch (error) {
    const isHeld = StateStoreError.isInstance(error) && error.code === 'conflict'
    throw isHeld ? new AgentAlreadyRunningError(sessionId) : error
  }
}

/**
 * Makes readers start again from the messages of the session. The stream keeps the id of its last
 * run, so that a reader can end it when this process dies.
 */
async function notifyReaders(
  { streamManager, logger }: RunServices,
  agent: Agent,
  { sessionId, runId = crypto.randomUUID() }: SessionState,
): Promise<void> {
  try {
    await streamManager.startRun(sessionId, runId, agent.name)
    await streamManager.endRun(sessionId, runId)
  } catch (err) {
    logger.error({ err, sessionId }, 'stream readers not notified of restored checkpoint')
  }
}
