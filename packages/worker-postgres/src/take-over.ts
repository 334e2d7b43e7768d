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
  /** The sessions among these that stay with another machine → until when, at least, as far as is known. */
  readonly elsewhere: (sessions: readonly SessionState[]) => Promise<ReadonlyMap<string, number>>
  /** Whether this worker runs the session. */
  readonly isOwn: (sessionId: string) => boolean
  /** Receives each run that goes on here. */
  readonly onTaken: (agent: Agent, handle: AgentHandle) => void
}

/** What a search has left. */
export interface SearchResult {
  /** When a session can be taken that cannot now; `Infinity` without any. */
  readonly next: number
  /** Whether there was no room for a session that its process has left while it shut down. */
  readonly isFull: boolean
  /** Until when machines count as living, as far as is known, with which paused sessions stay; 0 without any. */
  readonly awayUntil: number
}

const PAGE = 200
const NOTHING: SearchResult = { next: Infinity, isFull: false, awayUntil: 0 }

/**
 * Resumes the sessions whose lease has expired: their machine died, or is frozen. Those that stay with
 * another machine that lives, such as one that was started again, are left to it.
 *
 * @param statuses of the sessions that are checked.
 */
export async function takeOver(
  parts: TakeOverParts,
  statuses: readonly SessionStatus[],
): Promise<SearchResult> {
  // Side by side: a row that a frozen machine has locked keeps none of the others waiting.
  const taking: Promise<SearchResult>[] = []
  for (const agent of parts.agents) {
    for (const status of statuses) {
      for await (const page of pagesOf(parts, agent, status)) {
        taking.push(...(await takeFrom(parts, agent, page)))
      }
    }
  }
  const results = await Promise.all(taking)
  return {
    next: Math.min(Infinity, ...results.map(({ next }) => next)),
    isFull: results.some(({ isFull }) => isFull),
    awayUntil: Math.max(0, ...results.map(({ awayUntil }) => awayUntil)),
  }
}

async function* pagesOf(
  { stateStore }: TakeOverParts,
  agent: Agent,
  status: SessionStatus,
): AsyncGenerator<readonly SessionState[]> {
  let cursor: string | undefined
  do {
    const query = { agentType: agent.name, status, limit: PAGE, ...(cursor && { cursor }) }
    const page = await stateStore.listSessions(query)
    yield page.items
    cursor = page.nextCursor
  } while (cursor !== undefined)
}

async function takeFrom(
  parts: TakeOverParts,
  agent: Agent,
  page: readonly SessionState[],
): Promise<readonly Promise<SearchResult>[]> {
  const now = parts.now()
  const candidates = page.filter(
    // The run of its parent resumes a sub-agent.
    (session) => session.parentSessionId === undefined && !isPausedByUser(session),
  )
  const isOwn = ({ sessionId }: SessionState): boolean => parts.isOwn(sessionId)
  const held = candidates.filter(isHeld)
  const others = candidates.filter((session) => !isHeld(session))
  const left = others.filter((session) => !isOwn(session))
  // A run that has lost its lease here is about to end.
  const soonest = others.some(isOwn) ? now : Infinity
  const away = await parts.elsewhere(left)
  const results = left.map((session) => {
    const until = away.get(session.sessionId)
    if (until === undefined) return take(parts, agent, session)
    const awayUntil = session.status === 'running' ? 0 : until
    return Promise.resolve({ ...NOTHING, next: until, awayUntil })
  })
  const next = Math.min(soonest, ...held.map(({ leaseUntil = 0 }) => leaseUntil))
  return [Promise.resolve({ ...NOTHING, next }), ...results]

  function isHeld({ status, leaseUntil = 0 }: SessionState): boolean {
    return status === 'running' && leaseUntil > now
  }
}

function isPausedByUser({ status, error }: SessionState): boolean {
  return status === 'interrupted' && error?.code !== 'shutdown'
}

async function take(
  parts: TakeOverParts,
  agent: Agent,
  { sessionId, status }: SessionState,
): Promise<SearchResult> {
  const release = parts.reserve(sessionId)
  if (release === undefined) return { ...NOTHING, isFull: status === 'interrupted' }
  try {
    return { ...NOTHING, next: await recover(parts, agent, sessionId) }
  } catch (err) {
    // One that cannot be resumed does not keep the others from it.
    if (!HelixError.isInstance(err)) throw err
    parts.logger.error({ err, sessionId }, 'session could not be taken over')
    return NOTHING
  } finally {
    release()
  }
}

async function recover(parts: TakeOverParts, agent: Agent, sessionId: string): Promise<number> {
  const recovery = await parts.executor.recover(agent, sessionId)
  if (recovery.outcome === 'resumed') parts.onTaken(agent, recovery.handle)
  return recovery.outcome === 'held' ? (recovery.leaseUntil ?? Infinity) : Infinity
}
