// A run with a call that may have to be asked about, and a store that notes what it is asked.
import { defineAgent, defineTool, type PermissionRule, type Tool } from '@helix-agents/core'
import { permissionsOf, type SessionRequest } from '@helix-agents/core/runtime'
import { ManualClock, RecordingLogger } from '@helix-agents/core/testing'
import * as z from 'zod'
import type { Run } from '../../src/ports.ts'
import { admitCall } from '../../src/request/admit-call.ts'
import type { GatedCall } from '../../src/request/gated-call.ts'
import { RunControl } from '../../src/run/run-control.ts'

export const NOW = 1000
export const err = new Error('no')
export const send = (more: object = {}): Tool =>
  defineTool({
    name: 'send',
    description: '',
    inputSchema: z.object({ to: z.string() }),
    needsApproval: true,
    execute: () => 'sent',
    ...more,
  })

export interface Given {
  readonly tool?: Tool
  readonly call?: object
  readonly gated?: Partial<GatedCall>
  readonly rules?: readonly PermissionRule[]
  readonly expiresInMs?: number
  readonly known?: Partial<SessionRequest>
  readonly isRemembered?: boolean
  /** What the store has instead of a new request. */
  readonly live?: Partial<SessionRequest>
  readonly mayStart?: boolean
  readonly onRequest?: (request: SessionRequest) => unknown
}

export const requestWith = (more: Partial<SessionRequest>): SessionRequest => ({
  requestId: 'r',
  sessionId: 'root',
  askingSessionId: 's',
  agentPath: ['root', 'a'],
  kind: 'approval',
  toolCallId: 'c',
  toolName: 'send',
  arguments: '{"to":"ada"}',
  preview: { title: 'Send', body: '', format: 'text' } as never,
  subject: 'digest',
  createdAt: 0,
  ...more,
})

export function worldOf(given: Given = {}) {
  const { tool = send(), rules = [], expiresInMs, isRemembered = false, mayStart = true } = given
  const agent = defineAgent({
    name: 'a',
    llmConfig: { model: {} },
    tools: [tool],
    ...(rules.length > 0 && { permissions: rules }),
    ...(expiresInMs !== undefined && { approvals: { expiresInMs } }),
  })
  const [clock, logger, control] = [new ManualClock(NOW), new RecordingLogger(), new RunControl()]
  const [stored, chunks] = [[] as unknown[], [] as unknown[]]
  const byCall = new Map<string, SessionRequest>()
  if (given.known !== undefined) byCall.set('c', requestWith(given.known))
  const note = (name: string, ...what: unknown[]) => void stored.push([name, ...what])
  const stateStore = {
    addRequests: async (added: { readonly requests: readonly SessionRequest[] }) => {
      note('add', added)
      return given.live === undefined ? added.requests : [requestWith(given.live)]
    },
    isRemembered: async (...asked: unknown[]) => (note('remembered?', ...asked), isRemembered),
    resolveRequest: async (sessionId: string, requestId: string, resolution: never) => {
      note('resolve', sessionId, requestId, resolution)
      return { request: { ...(byCall.get('c') ?? requestWith({})), resolution } }
    },
    startRequest: async (start: unknown) => (note('start', start), mayStart),
  }
  const write = { sessionId: 's', runId: 'run', now: NOW }
  const requests = {
    rootSessionId: 'root',
    agentPath: ['root', 'a'],
    rules: [permissionsOf(agent) ?? []].flat(),
    blocked: new Set<string>(),
    byCall,
  }
  const run = {
    sessionId: 's',
    runId: 'run',
    agent,
    control,
    requests,
    services: { stateStore, clock, logger, onRequest: given.onRequest },
    lease: { write: () => write },
    workspaces: { access: { clock } },
    chunks: { emit: (...chunk: unknown[]) => void chunks.push(chunk) },
  } as unknown as Run
  const gated: GatedCall = {
    tool,
    call: { id: 'c', name: tool.name, arguments: { to: 'ada' }, ...given.call },
    index: 0,
    isRecovered: false,
    isJournaled: true,
    asks: false,
    isBlocked: false,
    ...given.gated,
  }
  return {
    run,
    gated,
    stored,
    chunks,
    requests,
    control,
    logger,
    write,
    admit: () => admitCall(run, gated),
  }
}

export const free = send({ needsApproval: false })
export const started = { type: 'start', arguments: { to: 'ada' }, isEdited: false }
export const approved = { decision: 'approve', at: 1 } as const
