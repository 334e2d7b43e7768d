import {
  type Agent,
  AgentAlreadyRunningError,
  HelixError,
  type Logger,
  type SessionState,
  type SessionStateStore,
} from '@helix-agents/core'
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
 * Goes on with the sessions whose process died in the middle of a run. Call it when a process
 * starts, and again while sessions wait. The lease is respected: what another process runs is
 * left alone. Sessions that were paused on purpose stay paused.
 */
export async function recoverSessions(parts: RecoveryParts): Promise<Recovery> {
  const found = { resumed: [] as string[], waiting: [] as string[], failed: [] as string[] }
  for await (const { sessionId } of orphans(parts)) {
    found[await recoverOne(parts, sessionId)].push(sessionId)
  }
  return found
}

async function* orphans({
  stateStore,
  agent,
  executor,
}: RecoveryParts): AsyncGenerator<SessionState> {
  let cursor: string | undefined
  do {
    const query = { agentType: agent.name, limit: 200, ...(cursor === undefined ? {} : { cursor }) }
    const page = await stateStore.listSessions(query)
    // A sub-agent goes on with the run of its parent.
    const runs = page.items.filter((s) => s.status === 'running' && s.parentSessionId === undefined)
    yield* runs.filter((s) => executor.getWorkspaceRegistry(s.sessionId) === undefined)
    cursor = page.nextCursor
  } while (cursor !== undefined)
}

async function recoverOne(
  { agent, executor, logger }: RecoveryParts,
  sessionId: string,
): Promise<keyof Recovery> {
  try {
    await executor.resume(agent, sessionId, { keepWorkspaces: true })
    logger.info({ sessionId }, 'session resumed after its process died')
    return 'resumed'
  } catch (error) {
    if (AgentAlreadyRunningError.isInstance(error)) return 'waiting'
    logger.error({ error, sessionId }, 'session could not be resumed')
    return HelixError.isInstance(error) && error.transient ? 'waiting' : 'failed'
  }
}
