import { type Agent, AgentAlreadyRunningError, SessionError } from '@helix-agents/core'
import type { SessionInteractionStore, SessionStateStore } from '@helix-agents/core/runtime'
import type { JSAgentExecutor } from '@helix-agents/runtime-js'
import { type Context, Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { HTTPException } from 'hono/http-exception'
import { addHistory, addTurns } from './chat-routes.ts'
import { errorBody } from './error-body.ts'
import { refuseForeignPages, refuseOtherHosts } from './page-checks.ts'

export interface ChatParts {
  readonly agent: Agent
  readonly executor: JSAgentExecutor
  readonly stateStore: SessionStateStore & SessionInteractionStore
  /** The page with its script and its style. */
  readonly page: { readonly html: string; readonly script: string; readonly style: string }
}

/** A turn of 10 000 characters, each of up to six bytes as JSON. */
const MAX_BODY_BYTES = 64 * 1024

/** Everything but the socket, so that tests and the story need none. */
export function createChatApp(parts: ChatParts): Hono {
  const app = new Hono()
  // There is no login: what reaches the server is let in, and pages of others must not reach it.
  app.use(refuseOtherHosts, refuseForeignPages)
  app.use(bodyLimit({ maxSize: MAX_BODY_BYTES, onError: refuseBody }))
  addPage(app, parts)
  addTurns(app, parts)
  addHistory(app, parts)
  app.notFound((context) => context.json(errorBody('not-found', 'no such route'), 404))
  app.onError(toErrorResponse)
  return app
}

function addPage(app: Hono, { page }: ChatParts): void {
  app.get('/', (context) => context.html(page.html))
  app.get('/chat.js', (context) => {
    return context.body(page.script, 200, { 'content-type': 'text/javascript' })
  })
  app.get('/chat.css', (context) => {
    return context.body(page.style, 200, { 'content-type': 'text/css' })
  })
}

function refuseBody(context: Context): Response {
  const sentence = `the body is larger than ${MAX_BODY_BYTES} bytes`
  return context.json(errorBody('too-large', sentence), 413)
}

function toErrorResponse(error: Error, context: Context): Response {
  if (error instanceof HTTPException) return error.getResponse()
  if (AgentAlreadyRunningError.isInstance(error)) {
    return context.json(errorBody(error.code, 'the answer before is not finished'), 409)
  }
  if (SessionError.isInstance(error)) {
    return context.json(errorBody(error.code, error.message), statusOf(error))
  }
  console.error(error)
  return context.json(errorBody('internal', 'the server failed; its log has the reason'), 500)
}

function statusOf({ code }: SessionError): 400 | 404 | 409 {
  if (code === 'unknown-request') return 404
  return code === 'invalid-answer' ? 400 : 409
}
