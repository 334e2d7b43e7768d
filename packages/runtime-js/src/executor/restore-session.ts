import {
  type Agent,
  AgentAlreadyRunningError,
  SessionError,
  StateStoreError,
} from '@helix-agents/core'
import { logMessages } from '@helix-agents/core/provider'
import type { Checkpoint, SessionState } from '@helix-agents/core/runtime'
import { abortSubAgents } from '../session/abort-session.ts'
import { loadOwnSession } from '../session/load-own-session.ts'
import { findOpenCalls } from '../call/find-open-calls.ts'
import type { RunServices } from '../ports.ts'
import { findFiles, restoreFiles, type WantedFiles } from '../history/checkpoint-files.ts'
import { Making } from '../history/making.ts'
import { holdSession } from '../lease/hold-session.ts'
import type { RestoreCheckpointOptions } from './executor-options.ts'
import { assertReleasedOfHeld } from '../history/released-limit.ts'
import { tryCollect } from '../history/release-workspaces.ts'

/** Where a session goes back to. */
interface RestoreTarget extends RestoreCheckpointOptions {
  readonly sessionId: string
  readonly checkpointId: string
}

/** Takes a session that does not run back to a checkpoint; resolves to its last run. */
export async function restoreSession(
  services: RunServices,
  agent: Agent,
  at: RestoreTarget,
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
  { sessionId, checkpointId, files = false }: RestoreTarget,
): Promise<string | undefined> {
  const { stateStore } = services
  const before = await loadOwnSession(services, agent, sessionId)
  const checkpoint = await stateStore.getCheckpoint(sessionId, checkpointId)
  if (checkpoint === null) {
    throw new SessionError('not-resumable', sessionId, `it has no checkpoint ${checkpointId}`)
  }
  const offset = checkpoint.messageCount
  const { messages: undone } = await stateStore.loadMessages(sessionId, { offset })
  if (files === false) await restore(services, checkpoint)
  else await restoreWithFiles(services, agent, checkpoint, findFiles(agent, checkpoint, files))
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
 * The files are there and open before anything is switched; conversation and refs are switched
 * together. A process that dies before leaves new backends that the next collection frees.
 */
async function restoreWithFiles(
  services: RunServices,
  agent: Agent,
  { sessionId, id }: Checkpoint,
  wanted: readonly WantedFiles[],
): Promise<void> {
  const { stateStore, clock, logger } = services
  const session = { sessionId, agentType: agent.name }
  await holdSession(services, sessionId, {
    work: async ({ session: { workspaceRefs: current }, lease }) => {
      await assertReleasedOfHeld(services, agent, session)
      // Says to a later run that there may be backends that nothing knows of.
      const intent = await stateStore.recordReleased(
        sessionId,
        { branchId: sessionId },
        clock.now(),
      )
      const making = new Making(services, { sessionId })
      const files = await restoreFiles(services, { session, files: wanted, current, making })
      try {
        await lease.confirm()
        const { runId } = lease.write()
        await stateStore.restoreCheckpoint(sessionId, id, clock.now(), { runId, files })
      } catch (error) {
        // The store may have switched before it failed: only what is certainly unused is released.
        logger.warn({ err: error, sessionId }, 'restored files are left to the next collection')
        throw error
      }
      try {
        await stateStore.forgetReleased(sessionId, [intent, ...making.ids])
      } catch (err) {
        // The session has been restored; the next collection finds nothing to free.
        logger.warn({ err, sessionId }, logMessages.historyNotCollected)
      }
    },
    // The restore has ended the lease.
    end: () => null,
  })
  await tryCollect(services, agent, session)
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
