import { type Agent, SessionError, StateStoreError } from '@helix-agents/core'
import type { SessionState } from '@helix-agents/core/runtime'
import type { ActiveRuns } from '../run/active-runs.ts'
import { agentsWithin } from '../session/agents-within.ts'
import { endRefs } from '../session/end-refs.ts'
import type { DeleteOptions } from './executor-options.ts'
import { releaseEverything } from '../history/collect.ts'
import { type HeldSession, holdSession } from '../lease/hold-session.ts'
import type { RunServices } from '../ports.ts'
import { toOwed } from '../session/stored-outcome.ts'
import { isSubSessionId, subSessionPrefix } from '../session/sub-session.ts'

/** What is to be removed, and how. */
interface Deletion {
  readonly services: RunServices
  /** The agent of the session and all its sub-agents, by name. */
  readonly agents: ReadonlyMap<string, Agent>
  readonly keepWorkspaces: boolean
}

/**
 * Removes a session that does not run: its sub-agents, its workspaces, its stream, and its state
 * last. A process that dies in between leaves a session that is not resumed, and that the next call
 * removes.
 */
export async function deleteSession(
  services: RunServices,
  agent: Agent,
  { sessionId, ...options }: DeleteOptions & { readonly sessionId: string },
): Promise<void> {
  const { active } = services
  const { abortRun = false, keepWorkspaces = false } = options
  await active.untilEnded(sessionId)
  if (abortRun) await endRuns(active, sessionId)
  active.reserve(sessionId)
  try {
    // One that waits would make the session again.
    await services.turnQueue?.cancelTurns(sessionId)
    const deletion = { services, agents: agentsWithin(agent), keepWorkspaces }
    await deleteReserved(deletion, agent, sessionId)
  } finally {
    active.release(sessionId)
  }
}

/** Until there is none: one may have been about to start. */
async function endRuns(active: ActiveRuns, sessionId: string): Promise<void> {
  while (active.has(sessionId)) {
    await active.untilStarted(sessionId)
    const run = active.get(sessionId)
    run?.control.stop('aborted')
    await run?.done
  }
}

async function deleteReserved(deletion: Deletion, agent: Agent, sessionId: string): Promise<void> {
  const { services } = deletion
  const session = await tryLoad(services, sessionId)
  if (session === null) return
  if (session !== DAMAGED) {
    const { agentType } = session
    if (agentType !== agent.name) {
      throw new SessionError('other-agent', sessionId, `it belongs to agent ${agentType}`)
    }
    await forbidResume(services, session)
  }
  await remove(deletion, sessionId, async () => {
    for (const id of await subSessionsOf(services, sessionId)) await remove(deletion, id)
  })
}

/** A session that is removed in part must not be resumed by another process. */
async function forbidResume(services: RunServices, session: SessionState): Promise<void> {
  const { sessionId, status } = session
  if (status === 'completed' || status === 'aborted') return
  await holdSession(services, sessionId, {
    work: async () => {},
    end: (_, { owed }) => ({ status: 'aborted', ...toOwed(owed ?? []) }),
  })
}

/** Removes one session, held against runs, once `first` is done. */
async function remove(
  deletion: Deletion,
  sessionId: string,
  first: () => Promise<void> = async () => {},
): Promise<void> {
  const { services, agents, keepWorkspaces } = deletion
  const found = await tryLoad(services, sessionId)
  if (found === null) return
  if (found === DAMAGED) {
    services.logger.error({ sessionId }, 'session cannot be read: its workspaces are left open')
    await first()
    return removeStored(services, sessionId)
  }
  const owed = await holdSession(services, sessionId, {
    work: async (held) => {
      await first()
      const agent = agents.get(held.session.agentType)
      const left = keepWorkspaces ? [] : await endAll(services, agent, held)
      await held.lease.confirm()
      if (left.length === 0) await removeStored(services, sessionId)
      return left
    },
    end: (left, before) => (left.length === 0 ? null : { ...before, owed: left }),
  })
  if (owed.length > 0) throw notRemoved(sessionId, owed)
}

/** What it uses, what it has let go, and what its checkpoints keep. @returns names of what is left */
async function endAll(
  services: RunServices,
  agent: Agent | undefined,
  held: HeldSession,
): Promise<readonly string[]> {
  const owed = await endRefs(services, agent, held)
  const left = await releaseEverything(services, agent, held.session)
  return [...new Set([...owed, ...left])]
}

async function removeStored(
  { streamManager, stateStore }: RunServices,
  sessionId: string,
): Promise<void> {
  await streamManager.deleteStream(sessionId)
  await stateStore.deleteSession(sessionId)
}

const DAMAGED = 'damaged'

async function tryLoad(
  { stateStore }: RunServices,
  sessionId: string,
): Promise<SessionState | typeof DAMAGED | null> {
  try {
    return await stateStore.loadSession(sessionId)
  } catch (error) {
    if (StateStoreError.isInstance(error) && error.code === 'corrupt') return DAMAGED
    throw error
  }
}

/** The sessions of all sub-agents of a session, the deepest first; damaged ones too. */
async function subSessionsOf(
  { stateStore }: RunServices,
  sessionId: string,
): Promise<readonly string[]> {
  const ids: string[] = []
  let cursor: string | undefined
  do {
    const page = await stateStore.listSessions({
      idPrefix: subSessionPrefix(sessionId),
      limit: 200,
      ...(cursor !== undefined && { cursor }),
    })
    const readable = page.items.filter(({ parentSessionId }) => parentSessionId !== undefined)
    ids.push(...[...readable, ...(page.unreadable ?? [])].map((session) => session.sessionId))
    cursor = page.nextCursor
  } while (cursor !== undefined)
  return ids
    .filter((id) => isSubSessionId(id, sessionId))
    .toSorted((one, other) => other.length - one.length)
}

function notRemoved(sessionId: string, owed: readonly string[]): SessionError {
  const detail = `these workspaces could not be ended, so it was not removed: ${owed.join(', ')}`
  return new SessionError('not-removed', sessionId, detail, {
    hint: 'Try again later. With keepWorkspaces they are left as they are.',
  })
}
