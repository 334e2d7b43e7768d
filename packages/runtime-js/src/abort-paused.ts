import { type Agent, type Message, SessionError, subAgentOf } from '@helix-agents/core'
import { findOpenCalls, type PlacedCall } from './run/find-open-calls.ts'
import { holdSession } from './run/hold-session.ts'
import type { RunServices } from './run/run-services.ts'
import { saveRefsOf, SessionWorkspaces } from './run/session-workspaces.ts'
import { toOwed } from './run/stored-outcome.ts'
import { subSessionIdOf } from './run/sub-session.ts'

/**
 * Ends a session that does not run, its workspaces, and the sub-agents that it waits for. One
 * that is over already may still own workspaces, kept or owed: they are ended too.
 */
export async function abortPaused(
  services: RunServices,
  agent: Agent,
  sessionId: string,
): Promise<void> {
  const before = await services.stateStore.loadSession(sessionId)
  if (before === null) {
    throw new SessionError('not-resumable', sessionId, 'there is no such session')
  }
  const isOver = before.status === 'completed' || before.status === 'aborted'
  const ownsNothing = Object.keys(before.workspaceRefs).length === 0
  if (ownsNothing && (isOver || before.status === 'idle')) return
  await holdSession(services, before, {
    work: async ({ session, claim }) => {
      const calls = isOver ? [] : await openCallsOf(services, sessionId)
      await abortSubAgents(services, agent, { ...session, calls })
      const toolSet = services.toolSets.of(agent)
      const saveRef = saveRefsOf(services, claim)
      return new SessionWorkspaces({ services, session, toolSet, saveRef }).close('end')
    },
    end: ({ owed }, { status, output }) => ({
      status: isOver ? status : 'aborted',
      ...(isOver && output !== undefined ? { output } : {}),
      ...toOwed(owed),
    }),
  })
}

/** Calls of a session that nobody will answer, and where it stands. */
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
    await tryAbort(services, subAgent.agent, subSessionIdOf(abandoned, index))
  }
}

async function tryAbort(services: RunServices, agent: Agent, sessionId: string): Promise<void> {
  if ((await services.stateStore.loadSession(sessionId)) === null) return
  try {
    await abortPaused(services, agent, sessionId)
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
