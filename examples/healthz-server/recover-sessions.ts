import { type Agent, HelixError, type Logger } from '@helix-agents/core'
import type { SessionState, SessionStateStore, SessionStatus } from '@helix-agents/core/runtime'
import type { JSAgentExecutor } from '@helix-agents/runtime-js'

export interface RecoveryParts {
  readonly agent: Agent
  readonly executor: JSAgentExecutor
  readonly stateStore: SessionStateStore
  readonly logger: Logger
}

/** Ids of sessions. */
export interface Recovery {
  readonly resumed: readonly string[]
  /** To be tried again: another process holds them until its lease is out, or the store is busy. */
  readonly waiting: readonly string[]
  readonly failed: readonly string[]
}

/**
 * Resumes the sessions whose process died or was shut down in the middle of a run. Call it
 * when a process starts, and again while sessions wait. The lease is respected: what another
 * process runs is left alone. Sessions that their users paused stay paused.
 */
export async function recoverSessions(parts: RecoveryParts): Promise<Recovery> {
  const found = { resumed: [] as string[], waiting: [] as string[], failed: [] as string[] }
  for await (const { sessionId } of candidates(parts)) {
    const outcome = await recoverOne(parts, sessionId)
    if (outcome !== undefined) found[outcome].push(sessionId)
  }
  return found
}

async function* candidates(parts: RecoveryParts): AsyncGenerator<SessionState> {
  for (const status of ['running', 'waiting', 'interrupted'] as const)
    yield* sessionsOf(parts, status)
}

async function* sessionsOf(
  { stateStore, agent }: RecoveryParts,
  status: SessionStatus,
): AsyncGenerator<SessionState> {
  const query = { agentType: agent.name, status, limit: 200 }
  let cursor: string | undefined
  do {
    const page = await stateStore.listSessions({ ...query, ...(cursor && { cursor }) })
    yield* page.items
    cursor = page.nextCursor
  } while (cursor !== undefined)
}

async function recoverOne(
  { agent, executor, logger }: RecoveryParts,
  sessionId: string,
): Promise<keyof Recovery | undefined> {
  try {
    const { outcome } = await executor.recover(agent, sessionId)
    if (outcome === 'not-needed') return undefined
    if (outcome === 'held') return 'waiting'
    logger.info({ sessionId }, 'session resumed in this process')
    return 'resumed'
  } catch (error) {
    logger.error({ err: error, sessionId }, 'session could not be resumed')
    return HelixError.isInstance(error) && error.transient ? 'waiting' : 'failed'
  }
}
