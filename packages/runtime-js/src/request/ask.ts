import { PolicyError, type ToolCall } from '@helix-agents/core'
import {
  contentProblem,
  type RequestKind,
  type RequestPreview,
  type SessionInteractionStore,
  type SessionRequest,
} from '@helix-agents/core/runtime'
import type { Run, RunServices } from '../ports.ts'
import type { GatedCall } from './gated-call.ts'
import { previewOfArguments } from './request-preview.ts'

/** Stores the request of a call, and then reports it. A call that has a live one keeps that. */
export async function ask(run: Run, gated: GatedCall): Promise<SessionRequest> {
  const made = await makeRequest(run, gated)
  const [stored = made] = await interactionsOfRun(run).addRequests({
    ...run.lease.write(),
    requests: [made],
  })
  run.requests.byCall.set(gated.call.id, stored)
  if (stored.requestId === made.requestId) announce(run, stored, gated.call.arguments)
  return stored
}

/** The store of a run that asks: `execute` has checked that there is one. */
export function interactionsOfRun({ services }: Run): SessionInteractionStore {
  if (services.interactions !== undefined) return services.interactions
  throw new TypeError('the state store keeps no requests')
}

/** @throws {PolicyError} `denied` for arguments that are too large to be asked about. */
export function assertAskable({ arguments: given }: ToolCall): void {
  if (contentProblem(argumentsText(given)) === undefined) return
  throw new PolicyError('denied', 'The arguments are too large to be shown to a person.', {
    hint: 'Nothing was done. Make several calls with less in each.',
  })
}

/** The exact text of arguments, as requests keep it. */
export function argumentsText(given: unknown): string {
  return JSON.stringify(given ?? {})
}

async function makeRequest(run: Run, gated: GatedCall): Promise<SessionRequest> {
  const { sessionId, requests, services } = run
  const { call, tool } = gated
  const createdAt = services.clock.now()
  const ttlMs = tool.approvalTtlMs ?? run.agent.approvals?.expiresInMs
  return {
    requestId: crypto.randomUUID(),
    sessionId: requests.rootSessionId,
    askingSessionId: sessionId,
    agentPath: requests.agentPath,
    kind: kindOf(gated),
    toolCallId: call.id,
    toolName: call.name,
    arguments: argumentsText(call.arguments),
    preview: previewOf(gated),
    createdAt,
    ...(ttlMs !== undefined && { expiresAt: createdAt + ttlMs }),
  }
}

function kindOf({ tool }: GatedCall): RequestKind {
  return tool.answeredBy ?? 'approval'
}

function previewOf(gated: GatedCall): RequestPreview {
  return previewOfArguments(gated)
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
