import { PolicyError, type ToolCall } from '@helix-agents/core'
import {
  contentProblem,
  previewCall,
  type SessionRequest,
  subjectKey,
  subjectOf,
} from '@helix-agents/core/runtime'
import type { Run, RunServices } from '../ports.ts'
import type { ParsedCall } from './decide-call.ts'
import type { GatedCall } from './gated-call.ts'

/** The exact text of arguments, as requests keep it. */
export function argumentsText(given: unknown): string {
  return JSON.stringify(given ?? {})
}

/**
 * Makes the request of a call, with its preview against the present.
 * @throws {PolicyError} `denied` for arguments that are too large to be asked about.
 */
export async function makeRequest(
  run: Run,
  { call, tool }: GatedCall,
  parsed: ParsedCall,
): Promise<SessionRequest> {
  const { sessionId, requests, services } = run
  const args = assertAskable(call)
  const preview = await previewCall({ ...parsed, args })
  const createdAt = services.clock.now()
  const ttlMs = tool.approvalTtlMs ?? run.agent.approvals?.expiresInMs
  return {
    requestId: crypto.randomUUID(),
    sessionId: requests.rootSessionId,
    askingSessionId: sessionId,
    agentPath: requests.agentPath,
    kind: tool.answeredBy ?? 'approval',
    toolCallId: call.id,
    toolName: call.name,
    arguments: args,
    preview,
    subject: await subjectDigest(run, parsed, args),
    createdAt,
    ...(ttlMs !== undefined && { expiresAt: createdAt + ttlMs }),
  }
}

function assertAskable({ arguments: given }: ToolCall): string {
  const text = argumentsText(given)
  if (contentProblem(text) === undefined) return text
  throw new PolicyError('denied', 'The arguments are too large to be shown to a person.', {
    hint: 'Nothing was done. Make several calls with less in each.',
  })
}

/** Calls with the same digest are the same for a person: see `remember`. */
async function subjectDigest(run: Run, parsed: ParsedCall, args: string): Promise<string> {
  const { permission } = parsed.tool
  const subject = await subjectOf(parsed)
  const resolved = (await permission?.resolve(subject, parsed.access)) ?? subject
  const text = JSON.stringify([run.requests.agentPath, subjectKey(resolved, args)])
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/**
 * Stores a request, and then reports it. A call that has a live one keeps that; one whose like was
 * approved for the session is approved by that.
 */
export async function ask(run: Run, made: SessionRequest, call: ToolCall): Promise<SessionRequest> {
  const [stored = made] = await run.services.stateStore.addRequests({
    ...run.lease.write(),
    requests: [made],
  })
  const request = await approveIfRemembered(run, stored)
  if (request.resolution === undefined && stored.requestId === made.requestId) {
    announce(run, request, call.arguments)
  }
  return request
}

/** An open request whose like was approved for the rest of the session needs no person. */
export async function approveIfRemembered(
  run: Run,
  request: SessionRequest,
): Promise<SessionRequest> {
  const { sessionId, requestId, subject, kind, resolution } = request
  run.requests.byCall.set(request.toolCallId, request)
  if (resolution !== undefined || subject === undefined || kind !== 'approval') return request
  const store = run.services.stateStore
  if (!(await store.isRemembered(sessionId, subject))) return request
  const at = run.services.clock.now()
  const answer = { decision: 'approve', reason: REMEMBERED, at } as const
  const resolved = await store.resolveRequest(sessionId, requestId, answer)
  run.requests.byCall.set(request.toolCallId, resolved.request)
  return resolved.request
}

const REMEMBERED = 'approved before for the rest of the session'

/** Asks again about a call: what its request showed is no longer true. */
export async function askAgain(
  run: Run,
  old: SessionRequest,
  { made, call }: { readonly made: SessionRequest; readonly call: ToolCall },
): Promise<void> {
  const title = `Asked again, since what was shown has changed: ${made.preview.title}`
  const request = { ...made, preview: { ...made.preview, title } }
  const write = run.lease.write()
  await run.services.stateStore.replaceRequest({ ...write, requestId: old.requestId, request })
  run.requests.byCall.set(request.toolCallId, request)
  announce(run, request, call.arguments)
}

/** Emits the request and notifies the application, which never delays the run. */
function announce(run: Run, request: SessionRequest, given: unknown): void {
  const { requestId, toolCallId, toolName, kind, preview, expiresAt, agentPath } = request
  const { basis: _, ...shown } = preview
  run.chunks.emit('approval_request', {
    requestId,
    toolCallId,
    toolName,
    kind,
    arguments: given,
    preview: shown,
    agentPath,
    ...(expiresAt !== undefined && { expiresAt }),
  })
  void notify(run.services, request)
}

async function notify(services: RunServices, request: SessionRequest): Promise<void> {
  try {
    await services.onRequest?.(request)
  } catch (err) {
    const { sessionId, requestId } = request
    services.logger.error({ err, sessionId, requestId }, 'onRequest failed')
  }
}
