import type { Agent } from '@helix-agents/core'
import type { Checkpoint } from '@helix-agents/core/runtime'
import { type BranchSeed, findCheckpoint, loadBranchSeed } from '@helix-agents/runtime-js'
import { fromStorableMessage, toStorableMessage } from '@helix-agents/store-cloudflare'
import * as z from 'zod'
import { known, openAccess, type SessionAccess } from '../server/session-access.ts'
import {
  BRANCH_FILES_HEADER,
  branchPointOf,
  dropBranchFiles,
  filesOfBranch,
  STAGE_PARAM,
  WORKSPACE_PARAM,
} from './branch-files.ts'
import { takeBranchFiles } from './take-branch-files.ts'
import { notFound, RequestError } from './http-error.ts'
import { branchSchema, readBody } from './request-body.ts'
import type { SessionRequest } from './session-request.ts'
import { linksOf } from './session-view.ts'

const seedSchema = z.strictObject({
  agentType: z.string(),
  customState: z.json().optional(),
  messages: z.array(z.unknown()),
  userId: z.string().optional(),
  tags: z.array(z.string()).optional(),
  metadata: z.record(z.string(), z.json()).optional(),
})

/** What a branch of the session begins with, for the object that it will be in. */
export async function getBranchSeed<Env>(sent: SessionRequest<Env>): Promise<Response> {
  const { checkpointId, files } = await readBody(sent.request, branchSchema, sent.bodyLimits)
  // The session may have changed while the body came: it may be that of another caller.
  const access = await openAccess(sent.access.host, sent.asked)
  const { host, agent } = access
  const { sessionId: fromSessionId } = known(access)
  const isPoint = checkpointId !== undefined || files !== undefined
  const checkpoint = isPoint ? await findPoint(access, checkpointId) : undefined
  const headers = files === undefined ? {} : filesHeader(agent, checkpoint)
  const at = { fromSessionId, ...(checkpoint && { checkpointId: checkpoint.id }) }
  const { messages = [], ...seed } = await loadBranchSeed(host, agent, at)
  return Response.json({ ...seed, messages: messages.map(toStorableMessage) }, { headers })
}

/** Without an id the newest: the conversation and the files of a branch are of one point. */
async function findPoint<Env>(
  { host: { stateStore, sessionId } }: SessionAccess<Env>,
  checkpointId: string | undefined,
): Promise<Checkpoint> {
  const found = await findCheckpoint(stateStore, sessionId, checkpointId)
  if (found === null) throw notFound('checkpoint')
  return found
}

/** @throws {RequestError} 422: no files can be had. */
function filesHeader(agent: Agent, checkpoint: Checkpoint | undefined): Record<string, string> {
  const withHistory = Object.values(agent.workspaces).filter(({ history }) => history !== undefined)
  if (checkpoint === undefined || withHistory.length === 0) {
    const problem = 'no workspace of the agent has a history, so no checkpoint has files'
    throw new RequestError(422, 'branch-without-files', `${problem}: leave out "files"`)
  }
  const names = withHistory.map(({ name }) => name)
  return { [BRANCH_FILES_HEADER]: JSON.stringify(branchPointOf(checkpoint, names)) }
}

/** Makes the session of a branch from what its source has given. */
export async function createFromSeed<Env>(sent: SessionRequest<Env>): Promise<Response> {
  const { request, url, base } = sent
  const { host, agent, session, caller } = sent.access
  if (url.searchParams.has(WORKSPACE_PARAM)) return takeBranchFiles(sent)
  // As large as its source is: `readBody` is for what clients send.
  const seed = toSeed(await request.json())
  if (session !== null) throw new RequestError(409, 'session-exists', 'the new session exists')
  host.assertNotErasing()
  const { sessionId, clock } = host
  // Whoever branches a session that has no owner owns the branch, as with a new session.
  const owner = seed.userId ?? caller.userId
  const owned = {
    ...seed,
    ...(owner !== undefined && { userId: owner }),
    agentType: agent.name,
  }
  const stage = url.searchParams.get(STAGE_PARAM)
  if (stage === null) {
    await host.stateStore.createSession({ ...owned, sessionId, now: clock.now() })
  } else {
    const files = await filesOfBranch(host, stage)
    await host.executor.importSession(agent, { sessionId, seed: owned, files })
    await dropBranchFiles(host)
  }
  const links = linksOf(base)
  return Response.json({ sessionId, links }, { status: 201, headers: { location: links.self } })
}

/** @throws {TypeError} for what another release has sent. */
function toSeed(value: unknown): BranchSeed {
  const { customState, messages, userId, tags, metadata, agentType } = seedSchema.parse(value)
  return {
    agentType,
    customState,
    messages: messages.map((stored) => {
      const message = fromStorableMessage(stored)
      if (message === undefined) throw new TypeError('a message of the branch cannot be read')
      return message
    }),
    ...(userId !== undefined && { userId }),
    ...(tags !== undefined && { tags }),
    ...(metadata !== undefined && { metadata }),
  }
}
