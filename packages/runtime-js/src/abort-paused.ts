import { type Agent, type Message, SessionError, subAgentOf } from '@helix-agents/core'
import { findOpenCalls, type PlacedCall } from './run/find-open-calls.ts'
import type { RunServices } from './run/run-services.ts'
import { SessionWorkspaces } from './run/session-workspaces.ts'
import { subSessionIdOf } from './run/sub-session.ts'

/** Ends a session that does not run, its workspaces, and the sub-agents that it waits for. */
export async function abortPaused(
  services: RunServices,
  agent: Agent,
  sessionId: string,
): Promise<void> {
  const { stateStore, clock, leaseMs } = services
  const before = await stateStore.loadSession(sessionId)
  if (before === null) {
    throw new SessionError('not-resumable', sessionId, 'there is no such session')
  }
  if (before.status !== 'interrupted' && before.status !== 'running') return
  const runId = crypto.randomUUID()
  const write = () => ({ sessionId, runId, now: clock.now() })
  const session = await stateStore.beginRun({ ...write(), leaseMs })
  await abortSubAgents(services, agent, {
    ...session,
    calls: await openCallsOf(services, sessionId),
  })
  const toolSet = services.toolSets.of(agent)
  const workspaces = new SessionWorkspaces({ services, session, toolSet, write })
  await workspaces.close('end')
  await stateStore.endRun({ ...write(), status: 'aborted' })
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
    services.logger.warn({ error, sessionId }, 'sub-agent was not ended')
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
