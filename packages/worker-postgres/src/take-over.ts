import { type Agent, HelixError, type Logger } from '@helix-agents/core'
import type { SessionState, SessionStateStore, SessionStatus } from '@helix-agents/core/runtime'
import type { AgentHandle, JSAgentExecutor } from '@helix-agents/runtime-js'

/** What a search for left sessions needs. */
export interface TakeOverParts {
  readonly executor: JSAgentExecutor
  readonly stateStore: Pick<SessionStateStore, 'listSessions'>
  readonly agents: readonly Agent[]
  readonly logger: Logger
  /** Now, in milliseconds since the epoch. */
  readonly now: () => number
  /** Whether another session may be taken over. */
  readonly hasRoom: () => boolean
  /** Whether this worker runs the session. */
  readonly isOwn: (sessionId: string) => boolean
  /** Receives each run that goes on here. */
  readonly onTaken: (agent: Agent, handle: AgentHandle) => void
}

const PAGE = 200

/**
 * Resumes the sessions whose lease has expired: their machine died, or is frozen.
 *
 * @param statuses of the sessions that are checked.
 * @returns when the next lease of a session expires unless it is renewed; `Infinity` without any.
 */
export async function takeOver(
  parts: TakeOverParts,
  statuses: readonly SessionStatus[],
): Promise<number> {
  let next = Infinity
  for (const agent of parts.agents) {
    for (const status of statuses) {
      for await (const session of sessionsOf(parts, agent, status)) {
        next = Math.min(next, await takeOne(parts, agent, session))
      }
    }
  }
  return next
}

async function* sessionsOf(
  { stateStore }: TakeOverParts,
  agent: Agent,
  status: SessionStatus,
): AsyncGenerator<SessionState> {
  let cursor: string | undefined
  do {
    const query = { agentType: agent.name, status, limit: PAGE, ...(cursor && { cursor }) }
    const page = await stateStore.listSessions(query)
    yield* page.items
    cursor = page.nextCursor
  } while (cursor !== undefined)
}

/** @returns when to check it again */
async function takeOne(parts: TakeOverParts, agent: Agent, session: SessionState): Promise<number> {
  const { sessionId, parentSessionId, leaseUntil = 0, status } = session
  // The run of its parent resumes a sub-agent.
  if (parentSessionId !== undefined || parts.isOwn(sessionId)) return Infinity
  if (status === 'running' && leaseUntil > parts.now()) return leaseUntil
  if (!parts.hasRoom()) return Infinity
  try {
    return await recover(parts, agent, sessionId)
  } catch (err) {
    // One that cannot be resumed does not keep the others from it.
    if (!HelixError.isInstance(err)) throw err
    parts.logger.error({ err, sessionId }, 'session could not be taken over')
    return Infinity
  }
}

async function recover(parts: TakeOverParts, agent: Agent, sessionId: string): Promise<number> {
  const recovery = await parts.executor.recover(agent, sessionId)
  if (recovery.outcome === 'resumed') parts.onTaken(agent, recovery.handle)
  return recovery.outcome === 'held' ? (recovery.leaseUntil ?? Infinity) : Infinity
}
