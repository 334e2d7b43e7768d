import type {
  QueuedMessage,
  RequestAnswer,
  RequestResolution,
  SessionRequest,
  SessionStateStore,
} from '@helix-agents/core/runtime'
import { check } from '../../assert.ts'
import {
  beginRun,
  journaled,
  newSession,
  type RunScript,
  type ScriptedRun,
  START,
} from '../session-script.ts'

export const APPROVED: RequestAnswer = { decision: 'approve' }
export const DENIED: RequestAnswer = { decision: 'deny', reason: 'not today' }

/** A request for the call `toolCallId` of `session`. */
export function requestFor(toolCallId: string, over: Partial<SessionRequest> = {}): SessionRequest {
  return {
    requestId: `request-${toolCallId}`,
    sessionId: 'session',
    askingSessionId: 'session',
    agentPath: ['agent'],
    kind: 'approval',
    toolCallId,
    toolName: 'write',
    arguments: '{"path":"a"}',
    preview: { title: `write ${toolCallId}` },
    createdAt: START,
    ...over,
  }
}

/** A value that no caller in TypeScript can give. */
export function wrong(value: unknown): never {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- that is the point
  return value as never
}

export function resolved(given: RequestAnswer, at = START + 50): RequestResolution {
  return { ...given, at }
}

export function queued(messageId: string, over: Partial<QueuedMessage> = {}): QueuedMessage {
  const message = { role: 'user', content: `text of ${messageId}` } as const
  return {
    messageId,
    sessionId: 'session',
    delivery: 'steer',
    message,
    createdAt: START,
    ...over,
  }
}

/** A new session whose run is in a step with these calls. */
export async function inStep(
  store: SessionStateStore,
  calls: readonly string[] = ['a', 'b'],
  script: RunScript = {},
): Promise<ScriptedRun> {
  await store.createSession(newSession({ sessionId: script.sessionId ?? 'session' }))
  const run = await beginRun(store, script)
  await beginStep(store, run, calls)
  return run
}

export async function beginStep(
  store: SessionStateStore,
  run: ScriptedRun,
  calls: readonly string[],
): Promise<void> {
  await store.beginStep({ ...run.write(), messages: [], journal: calls.map(journaled) })
}

/** As `inStep`; each of the calls asks. */
export async function asking(
  store: SessionStateStore,
  calls: readonly string[] = ['a', 'b'],
): Promise<ScriptedRun> {
  const run = await inStep(store, calls)
  await ask(store, run, ...calls.map((call) => requestFor(call)))
  return run
}

export function ask(
  store: SessionStateStore,
  run: ScriptedRun,
  ...requests: readonly SessionRequest[]
): Promise<readonly SessionRequest[]> {
  return store.addRequests({ ...run.write(), requests })
}

/** A sub-agent `session/sub` in a step, whose call `s` asks through `session`. */
export async function askingBelow(store: SessionStateStore): Promise<ScriptedRun> {
  const below = await inStep(store, ['s'], { sessionId: 'session/sub', runId: 'sub-run' })
  await ask(
    store,
    below,
    requestFor('s', { askingSessionId: 'session/sub', agentPath: ['agent', 'sub'] }),
  )
  return below
}

/** A request that must be there. */
export async function requestOf(
  store: SessionStateStore,
  toolCallId: string,
): Promise<SessionRequest> {
  const request = await store.getRequest('session', `request-${toolCallId}`)
  check(request !== undefined, `the request of the call ${toolCallId}`)
  return request
}

/** Decisions of requests by call; `open` without one. */
export async function decisionsOf(
  store: SessionStateStore,
  ...toolCallIds: readonly string[]
): Promise<readonly string[]> {
  const requests = await Promise.all(toolCallIds.map((call) => requestOf(store, call)))
  return requests.map(({ resolution }) => resolution?.decision ?? 'open')
}

/** The calls whose requests are live. */
export async function liveCallsOf(
  store: SessionStateStore,
  sessionId = 'session',
): Promise<readonly string[]> {
  return (await store.loadRequests(sessionId)).map(({ toolCallId }) => toolCallId)
}

export function answer(
  store: SessionStateStore,
  toolCallId: string,
  given: RequestAnswer = APPROVED,
): Promise<{ readonly request: SessionRequest; readonly isFirst: boolean }> {
  return store.resolveRequest('session', `request-${toolCallId}`, resolved(given))
}
