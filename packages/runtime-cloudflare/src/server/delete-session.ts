import { type Agent, HelixError } from '@helix-agents/core'
import type { SessionState } from '@helix-agents/core/runtime'
import { isCorrupt, isUnavailable, RequestError } from '../http/http-error.ts'
import type { AgentHost } from './agent-host.ts'

/** Beyond every time that a provider waits before it removes something. */
const FAR_MS = 10 * 365 * 24 * 3_600_000

/**
 * Ends the run, if one is under way, and the workspaces of the session, and removes everything that
 * its object stores. What cannot be ended keeps the session: otherwise no record of it would be left.
 * Of what cannot be read there is no record anyway.
 * @throws {RequestError} 409, 503
 */
export async function deleteSession<Env>(host: AgentHost<Env>): Promise<void> {
  await host.erase(async () => {
    try {
      await endAll(host)
    } catch (error) {
      if (!isFull(error)) throw error
      host.logger.warn({ err: error, sessionId: host.sessionId }, 'stream is dropped to make room')
      await dropStreams(host)
      await endAll(host)
    }
  })
}

async function endAll<Env>(host: AgentHost<Env>): Promise<void> {
  for (const sessionId of host.watchdog.running()) await stopRun(host, sessionId)
  await host.watchdog.untilAtRest()
  await host.releaseLeases()
  await closeWorkspaces(host)
  await collectAll(host)
}

/** Of the stores, or of a provider. */
function isFull(error: unknown): boolean {
  return isUnavailable(error) || (HelixError.isInstance(error) && error.code === 'storage-full')
}

/** That a workspace was ended must be stored, and an object that is full takes nothing. */
async function dropStreams<Env>({ stateStore, streamManager }: AgentHost<Env>): Promise<void> {
  let cursor: string | undefined
  do {
    const page = await stateStore.listSessions(cursor === undefined ? {} : { cursor })
    for (const { sessionId } of [...page.items, ...(page.unreadable ?? [])]) {
      await streamManager.deleteStream(sessionId)
    }
    cursor = page.nextCursor
  } while (cursor !== undefined)
}

async function stopRun<Env>(host: AgentHost<Env>, sessionId: string): Promise<void> {
  const { watchdog, agents, executor } = host
  // A run that is under way is stopped by any agent: its own may not be readable any more.
  const [any] = agents.values()
  const agent = agents.get((await tryLoad(host, sessionId))?.agentType ?? '') ?? any
  if (agent === undefined || !watchdog.isRunning(sessionId)) return
  const handle = await executor.getHandle(agent, sessionId)
  await handle?.abort()
}

/** Those of every session in the object: it may have been branched inside it. */
async function closeWorkspaces<Env>(host: AgentHost<Env>): Promise<void> {
  let isLeft = false
  let cursor: string | undefined
  do {
    const page = await host.stateStore.listSessions(cursor === undefined ? {} : { cursor })
    for (const session of page.items) if (!(await closeOf(host, session))) isLeft = true
    for (const { sessionId } of page.unreadable ?? []) {
      host.logger.error({ sessionId }, 'session cannot be read: its workspaces are left open')
    }
    cursor = page.nextCursor
  } while (cursor !== undefined)
  if (isLeft) throw somethingLeft('a workspace could not be ended')
}

/** Whether nothing is left of them that could be ended. */
async function closeOf<Env>(host: AgentHost<Env>, session: SessionState): Promise<boolean> {
  const { sessionId, agentType } = session
  const agent = host.agents.get(agentType)
  try {
    const isClosed = await closeUsed(host, agent, session)
    const left = await host.executor.releaseEverything(agent, { sessionId, agentType })
    return isClosed && left.length === 0
  } catch (err) {
    if (!isCorrupt(err)) throw err
    host.logger.error({ err, sessionId }, 'session cannot be read: its workspaces are left open')
    return true
  }
}

async function closeUsed<Env>(
  host: AgentHost<Env>,
  agent: Agent | undefined,
  { sessionId, agentType, workspaceRefs }: SessionState,
): Promise<boolean> {
  if (Object.keys(workspaceRefs).length === 0) return true
  if (agent === undefined) {
    host.logger.warn({ sessionId, agentType }, 'workspaces are left open')
    return true
  }
  const handle = await host.executor.getHandle(agent, sessionId)
  await handle?.abort()
  return Object.keys((await tryLoad(host, sessionId))?.workspaceRefs ?? {}).length === 0
}

/** `null` also for a session that cannot be read. */
async function tryLoad<Env>(
  { stateStore }: AgentHost<Env>,
  sessionId: string,
): Promise<SessionState | null> {
  try {
    return await stateStore.loadSession(sessionId)
  } catch (error) {
    if (!isCorrupt(error)) throw error
    return null
  }
}

/** What providers remove in the background must be gone before their notes of it are. */
async function collectAll<Env>({ collections, clock }: AgentHost<Env>): Promise<void> {
  const later = clock.now() + FAR_MS
  for (const collection of collections) {
    await collection.dropAll()
    await collection.run(later)
    const isOwed = (await collection.nextAt(later)) !== undefined
    if (isOwed) throw somethingLeft('files could not be removed')
  }
}

function somethingLeft(message: string): RequestError {
  return new RequestError(503, 'not-removed', `${message}: try again`, {
    headers: { 'retry-after': '60' },
  })
}
