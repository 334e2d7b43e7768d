import {
  type JsonValue,
  PolicyError,
  ToolFailedError,
  WorkspaceEvictedError,
} from '@helix-agents/core'
import { untilAborted } from '@helix-agents/core/provider'
import { type SessionRequest, subAgentOf } from '@helix-agents/core/runtime'
import { CallContext } from '../call/call-context.ts'
import type { Run } from '../ports.ts'
import { argumentsText, ask, assertAskable, interactionsOfRun } from './ask.ts'
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
  if (decided !== 'ask') return decided
  const request = await ask(run, gated)
  return request.resolution === undefined ? WAITING : actOn(run, gated, request)
}

/** What is to be done with a call that has no request. */
async function decide(run: Run, gated: GatedCall): Promise<Admission | 'ask'> {
  const { call, isBlocked } = gated
  try {
    if (await mustAsk(run, gated)) {
      assertAskable(call)
      return 'ask'
    }
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

/** @throws {ToolInputError} `invalid-input`: nobody is asked about a call that cannot run. */
async function mustAsk(run: Run, { tool, call }: GatedCall): Promise<boolean> {
  const { needsApproval = false, answeredBy } = tool
  const { signal } = run.control
  const input = await untilAborted(Promise.resolve(tool.parse(call.arguments)), signal)
  if (answeredBy !== undefined) return true
  if (typeof needsApproval === 'boolean') return needsApproval
  try {
    const decided = Promise.resolve(needsApproval(input, new CallContext(run, call, signal)))
    return await untilAborted(decided, signal)
  } catch (cause) {
    const detail = 'Whether a person must approve this call could not be decided: it was not run.'
    throw new ToolFailedError('tool-failed', detail, { cause })
  }
}

async function actOn(run: Run, gated: GatedCall, found: SessionRequest): Promise<Admission> {
  const request = await expireIfLate(run, found)
  const { resolution } = request
  if (resolution === undefined) return WAITING
  if (resolution.decision === 'approve') return startApproved(run, gated, request)
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
  const resolved = await interactionsOfRun(run).resolveRequest(sessionId, requestId, resolution)
  run.requests.byCall.set(request.toolCallId, resolved.request)
  return resolved.request
}

async function startApproved(
  run: Run,
  gated: GatedCall,
  request: SessionRequest,
): Promise<Admission> {
  const { requestId, resolution, startedAt } = request
  if (gated.isBlocked) {
    run.requests.blocked.add(requestId)
    return WAITING
  }
  const edited = resolution?.decision === 'approve' ? resolution.editedArguments : undefined
  const approved: unknown = JSON.parse(edited ?? request.arguments)
  const admission: Admission = {
    type: 'start',
    arguments: approved,
    isEdited: edited !== undefined,
  }
  // Only the session of a sub-agent is resumed; any other call that was started never comes here.
  if (startedAt !== undefined && subAgentOf(gated.tool) !== undefined) return admission
  const write = run.lease.write()
  if (!(await interactionsOfRun(run).startRequest({ ...write, requestId }))) {
    const error = new WorkspaceEvictedError('This call was started before.', {
      code: 'outcome-unknown',
    })
    return { type: 'rejected', error, wasAsked: true }
  }
  run.requests.byCall.set(request.toolCallId, { ...request, startedAt: write.now })
  run.requests.blocked.delete(requestId)
  emitResolved(run, request)
  return admission
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
