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
  /** Room to take one more session over, until it is released; `undefined` when there is none. */
  readonly reserve: (sessionId: string) => (() => void) | undefined
  /** The sessions among these that stay with another machine that lives. */
  readonly elsewhere: (sessionIds: readonly string[]) => Promise<ReadonlySet<string>>
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
  // Side by side: a row that a frozen machine has locked keeps none of the others waiting.
  const taking: Promise<number>[] = []
  for (const agent of parts.agents) {
    for (const status of statuses) {
      for await (const session of sessionsOf(parts, agent, status)) {
        const { next, left } = inspect(parts, session)
        taking.push(left ? take(parts, agent, session.sessionId) : Promise.resolve(next))
      }
    }
  }
  return Math.min(Infinity, ...(await Promise.all(taking)))
}

async function* sessionsOf(
  { stateStore, elsewhere }: TakeOverParts,
  agent: Agent,
  status: SessionStatus,
): AsyncGenerator<SessionState> {
  let cursor: string | undefined
  do {
    const query = { agentType: agent.name, status, limit: PAGE, ...(cursor && { cursor }) }
    const page = await stateStore.listSessions(query)
    // One whose lease has expired has lost its machine.
    const ids = status === 'running' ? [] : page.items.map(({ sessionId }) => sessionId)
    const away = await elsewhere(ids)
    yield* page.items.filter(({ sessionId }) => !away.has(sessionId))
    cursor = page.nextCursor
  } while (cursor !== undefined)
}

interface Inspected {
  readonly left: boolean
  /** When to check it again. */
  readonly next: number
}

function inspect(parts: TakeOverParts, session: SessionState): Inspected {
  const { sessionId, parentSessionId, leaseUntil = 0, status } = session
  // The run of its parent resumes a sub-agent.
  if (parentSessionId !== undefined || parts.isOwn(sessionId))
    return { left: false, next: Infinity }
  const isHeld = status === 'running' && leaseUntil > parts.now()
  return { left: !isHeld, next: isHeld ? leaseUntil : Infinity }
}

async function take(parts: TakeOverParts, agent: Agent, sessionId: string): Promise<number> {
  const release = parts.reserve(sessionId)
  if (release === undefined) return Infinity
  try {
    return await recover(parts, agent, sessionId)
  } catch (err) {
    // One that cannot be resumed does not keep the others from it.
    if (!HelixError.isInstance(err)) throw err
    parts.logger.error({ err, sessionId }, 'session could not be taken over')
    return Infinity
  } finally {
    release()
  }
}

async function recover(parts: TakeOverParts, agent: Agent, sessionId: string): Promise<number> {
  const recovery = await parts.executor.recover(agent, sessionId)
  if (recovery.outcome === 'resumed') parts.onTaken(agent, recovery.handle)
  return recovery.outcome === 'held' ? (recovery.leaseUntil ?? Infinity) : Infinity
}
