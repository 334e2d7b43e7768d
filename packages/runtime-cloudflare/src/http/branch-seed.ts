import type { NewSession } from '@helix-agents/core/runtime'
import { type BranchSeed, loadBranchSeed } from '@helix-agents/runtime-js'
import { fromStorableMessage, toStorableMessage } from '@helix-agents/store-cloudflare'
import * as z from 'zod'
import { known, openAccess } from '../server/session-access.ts'
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
  const { checkpointId } = await readBody(sent.request, branchSchema, sent.bodyLimits)
  // The session may have changed while the body came: it may be that of another caller.
  const access = await openAccess(sent.access.host, sent.asked)
  const { host, agent } = access
  const { sessionId: fromSessionId } = known(access)
  const at = { fromSessionId, ...(checkpointId === undefined ? {} : { checkpointId }) }
  const isThere =
    checkpointId === undefined ||
    (await host.stateStore.getCheckpoint(fromSessionId, checkpointId)) !== null
  if (!isThere) throw notFound('checkpoint')
  const { messages = [], ...seed } = await loadBranchSeed(host, agent, at)
  return Response.json({ ...seed, messages: messages.map(toStorableMessage) })
}

/** Makes the session of a branch from what its source has given. */
export async function createFromSeed<Env>({
  request,
  access: { host, agent, session, caller },
  base,
}: SessionRequest<Env>): Promise<Response> {
  // As large as its source is: `readBody` is for what clients send.
  const seed = toSeed(await request.json())
  if (session !== null) throw new RequestError(409, 'session-exists', 'the new session exists')
  host.assertNotErasing()
  const { sessionId, clock } = host
  // Whoever branches a session that has no owner owns the branch, as with a new session.
  const owner = seed.userId ?? caller.userId
  const created: NewSession = {
    ...seed,
    ...(owner === undefined ? {} : { userId: owner }),
    agentType: agent.name,
    sessionId,
    now: clock.now(),
  }
  await host.stateStore.createSession(created)
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
    ...(userId === undefined ? {} : { userId }),
    ...(tags === undefined ? {} : { tags }),
    ...(metadata === undefined ? {} : { metadata }),
  }
}
