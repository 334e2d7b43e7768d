import type { AgentHandle } from '@helix-agents/runtime-js'
import { RequestError } from '../http/http-error.ts'
import type { AgentHost } from './agent-host.ts'
import { known, type SessionAccess } from './session-access.ts'

/** Beyond every time that a provider waits before it removes something. */
const FAR_MS = 10 * 365 * 24 * 3_600_000

/**
 * Ends the run, if one is under way, and the workspaces of the session, and removes everything that
 * its object stores. What cannot be ended keeps the session: otherwise nobody would know of it.
 * @throws {RequestError} 404, 409, 503
 */
export async function deleteSession<Env>(access: SessionAccess<Env>): Promise<void> {
  const { host } = access
  known(access)
  await host.erase(async () => {
    for (const sessionId of host.watchdog.running()) await stopRun(host, sessionId)
    await host.watchdog.untilAtRest()
    await closeWorkspaces(host)
    await collectAll(host)
  })
}

async function stopRun<Env>(
  { watchdog, stateStore, agents, executor }: AgentHost<Env>,
  sessionId: string,
): Promise<void> {
  await watchdog.untilStarted(sessionId)
  const session = await stateStore.loadSession(sessionId)
  const agent = agents.get(session?.agentType ?? '')
  if (agent === undefined || !watchdog.isRunning(sessionId)) return
  const handle = await executor.getHandle(agent, sessionId)
  await handle?.abort()
  await handle?.result()
}

/** Those of every session in the object: it may have been branched inside it. */
async function closeWorkspaces<Env>({
  stateStore,
  agents,
  executor,
  logger,
}: AgentHost<Env>): Promise<void> {
  let cursor: string | undefined
  do {
    const page = await stateStore.listSessions(cursor === undefined ? {} : { cursor })
    for (const { sessionId, agentType, workspaceRefs } of page.items) {
      if (Object.keys(workspaceRefs).length === 0) continue
      const agent = agents.get(agentType)
      if (agent === undefined) logger.warn({ sessionId, agentType }, 'workspaces are left open')
      else await close(await executor.getHandle(agent, sessionId))
    }
    cursor = page.nextCursor
  } while (cursor !== undefined)
  const left = (await stateStore.listSessions()).items.filter(
    ({ agentType, workspaceRefs }) =>
      agents.has(agentType) && Object.keys(workspaceRefs).length > 0,
  )
  if (left.length > 0) throw somethingLeft('a workspace could not be ended')
}

async function close(handle: AgentHandle | null): Promise<void> {
  await handle?.abort()
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
