import { type Agent, type Message, SessionError } from '@helix-agents/core'
import { type SessionState, subAgentOf } from '@helix-agents/core/runtime'
import { endStream, type StreamEnd } from '../stream/end-stream.ts'
import { findOpenCalls } from '../call/find-open-calls.ts'
import { type HeldSession, holdSession } from '../lease/hold-session.ts'
import type { PlacedCall, RunServices } from '../ports.ts'
import { saveRefsOf, SessionWorkspaces } from './session-workspaces.ts'
import { toOwed } from './stored-outcome.ts'
import { subSessionIdOf } from './sub-session.ts'

/**
 * Ends a session that does not run, its workspaces, and the sub-agents that it waits for. One that
 * is over may still own workspaces, kept or owed: they are ended too.
 */
export async function abortSession(
  services: RunServices,
  agent: Agent,
  sessionId: string,
): Promise<void> {
  const before = await services.stateStore.loadSession(sessionId)
  if (before === null) {
    throw new SessionError('not-resumable', sessionId, 'there is no such session')
  }
  const ownsNothing = Object.keys(before.workspaceRefs).length === 0
  if (ownsNothing && (isOver(before) || before.status === 'idle')) return
  const { session, wasOver } = await holdSession(services, sessionId, {
    work: (held) => endHeld(services, agent, held),
    end: (ended, { status, output }) => ({
      status: ended.wasOver ? status : 'aborted',
      ...(ended.wasOver && output !== undefined && { output }),
      ...toOwed(ended.owed),
    }),
  })
  await endLastStream(services, wasOver ? session : { ...session, status: 'aborted' })
}

interface EndedSession {
  readonly owed: readonly string[]
  /** Its last run has ended before. */
  readonly wasOver: boolean
  readonly session: SessionState
}

async function endHeld(
  services: RunServices,
  agent: Agent,
  { session, lease }: HeldSession,
): Promise<EndedSession> {
  const wasOver = isOver(session)
  const calls = wasOver ? [] : await openCallsOf(services, session.sessionId)
  await abortSubAgents(services, agent, { ...session, calls })
  const toolSet = services.toolSets.of(agent)
  const saveRef = saveRefsOf(services, lease)
  const workspaces = new SessionWorkspaces({ services, session, toolSet, saveRef })
  // Ending the sub-agents may have outlasted the lease.
  await lease.confirm()
  const { owed } = await workspaces.close('end')
  return { owed, wasOver, session }
}

function isOver({ status }: SessionState): boolean {
  return status === 'completed' || status === 'aborted'
}

/** The process of the last run may have died without ending its stream. */
async function endLastStream(services: RunServices, end: StreamEnd): Promise<void> {
  try {
    await endStream(services, end)
  } catch (err) {
    services.logger.warn({ err, sessionId: end.sessionId }, 'end of stream not written')
  }
}

/** Calls of a session that will have no result, and how many steps it has finished. */
export interface AbandonedCalls {
  readonly sessionId: string
  readonly stepCount: number
  readonly calls: readonly PlacedCall[]
}

/** Ends the sub-agents whose calls will have no result. */
export async function abortSubAgents(
  services: RunServices,
  agent: Agent,
  abandoned: AbandonedCalls,
): Promise<void> {
  for (const { call, index } of abandoned.calls) {
    const tool = agent.tools.find(({ name }) => name === call.name)
    const subAgent = tool === undefined ? undefined : subAgentOf(tool)
    if (subAgent === undefined) continue
    await tryAbort(
      services,
      subAgent.agent,
      subSessionIdOf(abandoned.sessionId, abandoned.stepCount, index),
    )
  }
}

async function tryAbort(services: RunServices, agent: Agent, sessionId: string): Promise<void> {
  if ((await services.stateStore.loadSession(sessionId)) === null) return
  try {
    await abortSession(services, agent, sessionId)
  } catch (error) {
    services.logger.warn({ err: error, sessionId }, 'sub-agent was not ended')
  }
}

async function openCallsOf(
  { stateStore }: RunServices,
  sessionId: string,
): Promise<readonly PlacedCall[]> {
  const { messages }: { readonly messages: readonly Message[] } =
    await stateStore.loadMessages(sessionId)
  return findOpenCalls(messages)
}
