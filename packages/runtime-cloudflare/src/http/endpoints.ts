import { createServerSentEventsResponse, parseLastEventId } from '@helix-agents/core/runtime'
import type { AgentHandle } from '@helix-agents/runtime-js'
import type { BuiltInAction } from '../route/session-action.ts'
import type { SessionAccess } from '../server/session-access.ts'
import { known, openAccess } from '../server/session-access.ts'
import {
  abort,
  interrupt,
  queue,
  restore,
  resume,
  sendMessage,
  start,
  type Turn,
} from '../server/turns.ts'
import { getBranchSeed } from './branch-seed.ts'
import { getDiff, getFiles } from './history-endpoints.ts'
import { RequestError } from './http-error.ts'
import { getRequest, getRequests, postAnswer } from './request-endpoints.ts'
import type { SessionRequest } from './session-request.ts'
import {
  check,
  checkpointsSchema,
  emptySchema,
  messageSchema,
  pageSchema,
  readBody,
  restoreSchema,
  resumeSchema,
  startSchema,
} from './request-body.ts'
import { linksOf, toCheckpointView, toMessageView, toSessionView } from './session-view.ts'

/** What is answered with a session that can be read. */
export type ReadAction = Exclude<BuiltInAction, 'delete'>

type Endpoint = <Env>(request: SessionRequest<Env>) => Promise<Response>

export const endpoints: Readonly<Record<ReadAction, Endpoint>> = {
  start: postStart,
  message: postMessage,
  resume: postResume,
  interrupt: (request) => control(request, interrupt),
  abort: (request) => control(request, abort),
  restore: postRestore,
  branch: getBranchSeed,
  state: getState,
  messages: getMessages,
  checkpoints: getCheckpoints,
  diff: getDiff,
  files: getFiles,
  requests: getRequests,
  request: getRequest,
  respond: postAnswer,
  stream: getStream,
  healthz: getHealth,
  socket: refusePlain,
}

async function postStart<Env>(sent: SessionRequest<Env>): Promise<Response> {
  const { message, state } = await readBody(sent.request, startSchema, sent.bodyLimits)
  return take(sent, start<Env>(message, state))
}

async function postMessage<Env>(sent: SessionRequest<Env>): Promise<Response> {
  const { message, ...options } = await readBody(sent.request, messageSchema, sent.bodyLimits)
  const { access, asked, base } = sent
  const queued = await queue<Env>(message, options)(await openAccess(access.host, asked))
  if (queued === undefined) return take(sent, sendMessage<Env>(message))
  const { sessionId } = known(access)
  const links = linksOf(base)
  const body = { sessionId, messageId: queued.messageId, links }
  return Response.json(body, { status: 202, headers: { location: links.self } })
}

async function postResume<Env>(sent: SessionRequest<Env>): Promise<Response> {
  const { message } = await readBody(sent.request, resumeSchema, sent.bodyLimits)
  return take(sent, resume<Env>(message))
}

async function postRestore<Env>(sent: SessionRequest<Env>): Promise<Response> {
  const { checkpointId, ...options } = await readBody(sent.request, restoreSchema, sent.bodyLimits)
  return take(sent, restore<Env>(checkpointId, options))
}

async function control<Env>(sent: SessionRequest<Env>, turn: Turn<Env>): Promise<Response> {
  await readBody(sent.request, emptySchema, sent.bodyLimits)
  return take(sent, turn)
}

/** The session may have changed while the body came: it is looked at again. */
async function take<Env>(
  { access: { host }, asked, base }: SessionRequest<Env>,
  turn: Turn<Env>,
): Promise<Response> {
  const { sessionId, runId }: AgentHandle = await turn(await openAccess(host, asked))
  const links = linksOf(base)
  const body = { sessionId, ...(runId !== undefined && { runId }), links }
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

async function getCheckpoints<Env>({ access, url }: SessionRequest<Env>): Promise<Response> {
  const { sessionId } = known(access)
  const { limit, cursor } = check(checkpointsSchema, Object.fromEntries(url.searchParams))
  const query = { limit, ...(cursor !== undefined && { cursor }) }
  const page = await access.host.stateStore.listCheckpoints(sessionId, query)
  return Response.json({ ...page, items: page.items.map(toCheckpointView) })
}

/** The events of a run, as they come. A client that reconnects continues after its last event. */
async function getStream<Env>({ access, request }: SessionRequest<Env>): Promise<Response> {
  const { sessionId, status } = known(access)
  const { streamManager, clock } = access.host
  const fromSequence = parseLastEventId(request.headers.get('last-event-id'))
  const from = fromSequence === undefined ? {} : { fromSequence }
  // Browsers come back whenever a response ends, until they are told that there is no more.
  const isBack = fromSequence !== undefined && status !== 'running'
  if (isBack && (await hasEnded(access, fromSequence))) return new Response(null, { status: 204 })
  const onEnd = access.host.places.streams.take(access.caller)
  return createServerSentEventsResponse(
    (signal) => streamManager.read(sessionId, { ...from, signal }),
    { clock, onEnd },
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
async function getHealth<Env>({
  access: { host, session },
}: SessionRequest<Env>): Promise<Response> {
  const registry = session && host.executor.getWorkspaceRegistry(host.sessionId)
  if (!registry) return Response.json({ error: 'no active session' }, { status: 404 })
  return Response.json({ workspaces: registry.describe() })
}
