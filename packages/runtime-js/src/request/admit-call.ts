import { type JsonValue, PolicyError, WorkspaceEvictedError } from '@helix-agents/core'
import { basisHolds, type SessionRequest, subAgentOf } from '@helix-agents/core/runtime'
import type { Run } from '../ports.ts'
import { approveIfRemembered, argumentsText, ask, askAgain, makeRequest } from './ask.ts'
import { assertNotDenied, mustAsk, parseCall } from './decide-call.ts'
import type { GatedCall } from './gated-call.ts'

/** What becomes of a call that comes to its turn. */
export type Admission =
  /** It starts, with these arguments. */
  | { readonly type: 'start'; readonly arguments: unknown; readonly isEdited: boolean }
  /** A client or a person has given its output. */
  | { readonly type: 'answered'; readonly output: JsonValue }
  | { readonly type: 'waiting' }
  /** It never starts: `denied`, `request-expired`, or its arguments are not valid. */
  | { readonly type: 'rejected'; readonly error: unknown; readonly wasAsked: boolean }

const WAITING: Admission = { type: 'waiting' }

/**
 * Decides whether a gated call starts now: asks a person where that is needed, and acts on the answer.
 * @throws what the store throws
 */
export async function admitCall(run: Run, gated: GatedCall): Promise<Admission> {
  // A run that is being stopped starts nothing and asks nothing: the call is left to the next one.
  if (run.control.cause !== undefined) return WAITING
  const known = requestOf(run, gated)
  if (known !== undefined) return actOn(run, gated, known)
  const decided = await decide(run, gated)
  if ('type' in decided) return decided
  const request = await ask(run, decided, gated.call)
  return request.resolution === undefined ? WAITING : actOn(run, gated, request)
}

/** What becomes of a call that has no request: it starts, it is rejected, or it gets this one. */
async function decide(run: Run, gated: GatedCall): Promise<Admission | SessionRequest> {
  const { call, isBlocked, asks } = gated
  try {
    const parsed = await parseCall(run, gated)
    const isAsked = await mustAsk(run, parsed)
    if (isAsked || asks) return await makeRequest(run, gated, parsed)
    return isBlocked ? WAITING : { type: 'start', arguments: call.arguments, isEdited: false }
  } catch (error) {
    if (run.control.cause !== undefined) return WAITING
    return { type: 'rejected', error, wasAsked: false }
  }
}

/** The live request of a call, if it is about these very arguments. */
export function requestOf(
  { requests }: Run,
  { call }: Pick<GatedCall, 'call'>,
): SessionRequest | undefined {
  const request = requests.byCall.get(call.id)
  const isSame =
    request?.toolName === call.name && request.arguments === argumentsText(call.arguments)
  return isSame ? request : undefined
}

async function actOn(run: Run, gated: GatedCall, found: SessionRequest): Promise<Admission> {
  const request = await approveIfRemembered(run, await expireIfLate(run, found))
  const { resolution } = request
  if (resolution === undefined) return WAITING
  if (resolution.decision === 'approve') return actOnApproval(run, gated, request)
  emitResolved(run, request)
  if (resolution.decision === 'output') return { type: 'answered', output: resolution.output }
  return { type: 'rejected', error: denialOf(request), wasAsked: true }
}

/** The time of a request is over for good once that is stored. */
async function expireIfLate(run: Run, request: SessionRequest): Promise<SessionRequest> {
  const at = run.services.clock.now()
  if (request.resolution !== undefined || at < (request.expiresAt ?? Infinity)) return request
  const { sessionId, requestId } = request
  const resolution = { decision: 'expired', at } as const
  const resolved = await run.services.stateStore.resolveRequest(sessionId, requestId, resolution)
  run.requests.byCall.set(request.toolCallId, resolved.request)
  return resolved.request
}

async function actOnApproval(
  run: Run,
  gated: GatedCall,
  request: SessionRequest,
): Promise<Admission> {
  const { requestId, startedAt } = request
  if (gated.isBlocked) {
    run.requests.blocked.add(requestId)
    return WAITING
  }
  run.requests.blocked.delete(requestId)
  const approved = approvedStart(request)
  // Only the session of a sub-agent is resumed; any other call that was started never comes here.
  if (startedAt !== undefined && subAgentOf(gated.tool) !== undefined) return approved
  const obstacle = await findObstacle(run, gated, { request, approved })
  if (obstacle === undefined) return startApproved(run, request, approved)
  if (obstacle.type === 'rejected') emitResolved(run, request)
  return obstacle
}

type Start = Extract<Admission, { readonly type: 'start' }>

/** Exactly the bytes that were approved. */
function approvedStart({ resolution, arguments: asked }: SessionRequest): Start {
  const edited = resolution?.decision === 'approve' ? resolution.editedArguments : undefined
  const given: unknown = JSON.parse(edited ?? asked)
  return { type: 'start', arguments: given, isEdited: edited !== undefined }
}

/** Rules may have changed since a person approved the call, and so may what it was shown to do. */
async function findObstacle(
  run: Run,
  gated: GatedCall,
  { request, approved }: { readonly request: SessionRequest; readonly approved: Start },
): Promise<Admission | undefined> {
  let made: SessionRequest
  try {
    await assertNotDenied(run, await parseCall(run, gated, approved.arguments))
    // What was shown is what was asked, also when the answer has changed the input.
    const asked = await parseCall(run, gated)
    if (await basisHolds(asked, request.preview.basis)) return undefined
    made = await makeRequest(run, gated, asked)
  } catch (error) {
    if (run.control.cause !== undefined) return WAITING
    return { type: 'rejected', error, wasAsked: true }
  }
  await askAgain(run, request, { made, call: gated.call })
  return WAITING
}

/** Once it is stored that an approved call was started, it is never started again. */
async function startApproved(
  run: Run,
  request: SessionRequest,
  approved: Start,
): Promise<Admission> {
  const { requestId, toolCallId } = request
  if (run.control.cause !== undefined) return WAITING
  const write = run.lease.write()
  if (!(await run.services.stateStore.startRequest({ ...write, requestId }))) {
    const error = new WorkspaceEvictedError('This call was started before.', {
      code: 'outcome-unknown',
    })
    return { type: 'rejected', error, wasAsked: true }
  }
  run.requests.byCall.set(toolCallId, { ...request, startedAt: write.now })
  emitResolved(run, request)
  return approved
}

/** A run acts on the answer to a request. */
function emitResolved(run: Run, { requestId, toolCallId, resolution }: SessionRequest): void {
  if (resolution === undefined) return
  const { decision, by } = resolution
  const reason = 'reason' in resolution ? resolution.reason : undefined
  run.chunks.emit('approval_resolved', {
    requestId,
    toolCallId,
    decision,
    ...(by !== undefined && { by }),
    ...(reason !== undefined && { reason }),
  })
}

/** What the model reads of a call that was not approved. */
function denialOf({ resolution }: SessionRequest): PolicyError {
  if (resolution?.decision === 'expired') {
    return new PolicyError(
      'request-expired',
      'Nobody approved this call in time: it was not run.',
      {
        hint: 'Go on without it, or ask again when it is still needed.',
      },
    )
  }
  if (resolution?.decision === 'cancelled') {
    return new PolicyError('denied', 'The question about this call was withdrawn: it was not run.')
  }
  const reason = resolution?.decision === 'deny' ? resolution.reason : undefined
  const because = reason === undefined ? '' : `: ${reason}`
  return new PolicyError('denied', `The user denied this call, it was not run${because}`, {
    hint: 'Do not make the same call again. Go on another way, or ask what is wanted instead.',
  })
}
