import type { AgentHost } from '../server/agent-host.ts'
import { deleteSession } from '../server/delete-session.ts'
import { type AccessRequest, assertMayWrite, known, openAccess } from '../server/session-access.ts'
import { isCorrupt, notFound } from './http-error.ts'
import { type BodyLimits, emptySchema, readBody } from './request-body.ts'

interface Removal {
  readonly request: Request
  readonly asked: AccessRequest
  readonly bodyLimits: BodyLimits
}

/** Removes the session, also one that cannot be read any more. @throws {RequestError} */
export async function removeSession<Env>(
  host: AgentHost<Env>,
  { request, asked, bodyLimits }: Removal,
): Promise<Response> {
  await assertMayRemove(host, asked)
  await readBody(request, emptySchema, bodyLimits)
  // It may have changed while the body came.
  await assertMayRemove(host, asked)
  await deleteSession(host)
  return new Response(null, { status: 204 })
}

/** @throws {RequestError} 403, 404, 409. @throws {StateStoreError} `corrupt` */
async function assertMayRemove<Env>(host: AgentHost<Env>, asked: AccessRequest): Promise<void> {
  const assertWrite = (): void => assertMayWrite(asked.caller, { action: 'delete', isWrite: true })
  try {
    const access = await openAccess(host, asked)
    assertWrite()
    known(access)
  } catch (error) {
    if (!isCorrupt(error)) throw error
    host.assertNotErasing()
    await assertOwns(host, asked)
    assertWrite()
  }
}

/** Who a damaged session belongs to may be known all the same; if not, it is the operator's. */
async function assertOwns<Env>(
  { stateStore, sessionId }: AgentHost<Env>,
  { caller, agent }: AccessRequest,
): Promise<void> {
  if (caller.isOperator === true) return
  const owner = await stateStore.loadOwner(sessionId)
  const isOther = owner?.userId !== undefined && owner.userId !== caller.userId
  const isElsewhere = agent !== undefined && agent !== owner?.agentType
  if (owner === null || isOther || isElsewhere) throw notFound('session')
}
