import { createServerSentEventsResponse, parseLastEventId } from '@helix-agents/core'
import type { AgentHandle } from '@helix-agents/runtime-js'
import type { SessionAccess } from '../server/session-access.ts'
import { known } from '../server/session-access.ts'
import { abort, interrupt, resume, say, start, type Turn } from '../server/turns.ts'
import { RequestError } from './http-error.ts'
import {
  check,
  emptySchema,
  messageSchema,
  pageSchema,
  readBody,
  resumeSchema,
  startSchema,
} from './request-body.ts'
import { linksOf, toMessageView, toSessionView } from './session-view.ts'

/** A request for the session of the object. */
export interface SessionRequest<Env> {
  readonly request: Request
  readonly url: URL
  /** Path of the session, as clients see it. */
  readonly base: string
  readonly access: SessionAccess<Env>
  readonly maxBodyBytes: number
}

/** Where a WebSocket is connected. */
export const SOCKET_PATH = '/socket'

type Endpoint = <Env>(request: SessionRequest<Env>) => Promise<Response>

/** By path, then by method. */
export const endpoints: ReadonlyMap<string, Readonly<Record<string, Endpoint>>> = new Map<
  string,
  Readonly<Record<string, Endpoint>>
>([
  ['/start', { POST: postStart }],
  ['/message', { POST: postMessage }],
  ['/messages', { GET: getMessages, POST: postMessage }],
  ['/resume', { POST: postResume }],
  ['/interrupt', { POST: (request) => control(request, interrupt) }],
  ['/abort', { POST: (request) => control(request, abort) }],
  ['/state', { GET: getState }],
  ['/stream', { GET: getStream }],
  ['/healthz', { GET: getHealth }],
  [SOCKET_PATH, { GET: refusePlain }],
])

async function postStart<Env>(sent: SessionRequest<Env>): Promise<Response> {
  const { message, state } = await readBody(sent.request, startSchema, sent.maxBodyBytes)
  return take(sent, start<Env>(message, state))
}

async function postMessage<Env>(sent: SessionRequest<Env>): Promise<Response> {
  const { message } = await readBody(sent.request, messageSchema, sent.maxBodyBytes)
  known(sent.access)
  return take(sent, say<Env>(message))
}

async function postResume<Env>(sent: SessionRequest<Env>): Promise<Response> {
  const { message } = await readBody(sent.request, resumeSchema, sent.maxBodyBytes)
  return take(sent, resume<Env>(message))
}

async function control<Env>(sent: SessionRequest<Env>, turn: Turn<Env>): Promise<Response> {
  await readBody(sent.request, emptySchema, sent.maxBodyBytes)
  return take(sent, turn)
}

async function take<Env>(
  { access, base }: SessionRequest<Env>,
  turn: Turn<Env>,
): Promise<Response> {
  const { sessionId, runId }: AgentHandle = await turn(access)
  const links = linksOf(base)
  const body = { sessionId, ...(runId === undefined ? {} : { runId }), links }
  return Response.json(body, { status: 202, headers: { location: links.self } })
}

async function getState<Env>({ access, base }: SessionRequest<Env>): Promise<Response> {
  return Response.json(toSessionView(known(access), base))
}

async function getMessages<Env>({ access, url }: SessionRequest<Env>): Promise<Response> {
  const { sessionId } = known(access)
  const query = check(pageSchema, Object.fromEntries(url.searchParams))
  const page = await access.host.stateStore.loadMessages(sessionId, query)
  return Response.json({ ...page, messages: page.messages.map(toMessageView) })
}

/** What a run says, as it says it. A client that comes back goes on after its last event. */
async function getStream<Env>({ access, request }: SessionRequest<Env>): Promise<Response> {
  const { sessionId, status } = known(access)
  const { streamManager, clock } = access.host
  const fromSequence = parseLastEventId(request.headers.get('last-event-id'))
  const from = fromSequence === undefined ? {} : { fromSequence }
  // Browsers come back whenever a response ends, until they are told that there is no more.
  const isBack = fromSequence !== undefined && status !== 'running'
  if (isBack && (await hasEnded(access, fromSequence))) return new Response(null, { status: 204 })
  return createServerSentEventsResponse(
    (signal) => streamManager.read(sessionId, { ...from, signal }),
    { clock },
  )
}

async function hasEnded<Env>(
  { host: { streamManager, sessionId } }: SessionAccess<Env>,
  fromSequence: number,
): Promise<boolean> {
  const chunks = await streamManager.read(sessionId, { fromSequence })
  for await (const _ of chunks ?? []) return false
  return true
}

/** A connection that asks for a WebSocket does not come here. */
async function refusePlain(): Promise<Response> {
  throw new RequestError(426, 'upgrade-required', 'this path is for WebSockets', {
    headers: { upgrade: 'websocket' },
  })
}

/** The live workspaces of the run. */
async function getHealth<Env>({ access: { host } }: SessionRequest<Env>): Promise<Response> {
  const registry = host.executor.getWorkspaceRegistry(host.sessionId)
  if (registry === undefined) return Response.json({ error: 'no active session' }, { status: 404 })
  return Response.json({ workspaces: registry.describe() })
}
