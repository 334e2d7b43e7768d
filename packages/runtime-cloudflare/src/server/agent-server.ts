import type { JSAgentExecutor } from '@helix-agents/runtime-js'
import { type Connection, type ConnectionContext, Server } from 'partyserver'
import { hasAbandonedFiles } from '../http/branch-files.ts'
import { notFound, toErrorResponse, toRefusal } from '../http/http-error.ts'
import { customEndpoint, respond } from '../http/respond.ts'
import { isWebSocketUpgrade, readTarget, withoutClientControl } from '../route/object-request.ts'
import { actionOf, methodsOf, SOCKET_PATH } from '../route/session-action.ts'
import { receive } from '../socket/socket-messages.ts'
import { assertSocketPlace } from '../socket/socket-places.ts'
import { SocketPumps } from '../socket/socket-pumps.ts'
import { noteState, stateOf } from '../socket/socket-state.ts'
import { AgentHost } from './agent-host.ts'
import type { AgentServerOptions } from './agent-server-options.ts'
import { assertServerOptions } from './check-options.ts'
import { deleteSession } from './delete-session.ts'
import { eraseUnusedObject } from './erase-unused-object.ts'
import { known, maySee, openAccess } from './session-access.ts'

/** Of one session: each holds some memory, and a client that comes back may leave one behind. */
const DEFAULT_MAX_SOCKETS = 100
/** Close code for what went wrong inside. */
const FAILED = 1011
/** Close code of the WebSockets of a session that was deleted. */
const DELETED = 4404

/**
 * A Durable Object that is one session: its name is the id of the session. `createAgentServer`
 * makes the class.
 */
export abstract class AgentServer<Env = Cloudflare.Env> extends Server<Cloudflare.Env & Env> {
  /** WebSockets do not keep the object in memory. */
  static override options = { hibernate: true }

  readonly #host: AgentHost<Env>
  readonly #pumps: SocketPumps
  /** What it began with is gone: `onStart` is called again. */
  #isErased = false
  #hasAnswered = false
  /** Requests under way that may store something in an object without a session. */
  #beginning = 0

  constructor(
    ctx: DurableObjectState,
    env: Cloudflare.Env & Env,
    options: AgentServerOptions<Env>,
  ) {
    super(ctx, env)
    const sessionId = (): string => this.name
    const host = new AgentHost<Env>({
      ctx,
      env,
      options,
      sessionId,
      onStarted: () => this.#pumps.startAll(),
      onErased: () => this.#forget(),
    })
    this.#host = host
    this.#pumps = new SocketPumps({
      streamManager: host.streamManager,
      sessionId,
      sockets: () => this.getConnections(),
      countSockets: () => ctx.getWebSockets().length,
      mayRead: (socket) => maySee(host, stateOf(socket)),
      logger: host.logger,
    })
    this.#guardOnConnect()
    ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair('ping', 'pong'))
    void ctx.blockConcurrencyWhile(() => this.#open())
  }

  /** Runs the agents of this session, with what the object stores; for subclasses. */
  protected get executor(): JSAgentExecutor {
    return this.#host.executor
  }

  /** Answers a request; a subclass that has its own paths calls it for all others. */
  override async fetch(request: Request): Promise<Response> {
    try {
      await this.#host.ready()
      const clean = withoutClientControl(request)
      return await this.#answer(clean)
    } catch (error) {
      const { logger } = this.#host
      return toErrorResponse(toRefusal(error, logger, { method: request.method }))
    }
  }

  override onRequest(request: Request): Promise<Response> {
    return respond(this.#host, request)
  }

  override onConnect(connection: Connection, { request }: ConnectionContext): void | Promise<void> {
    const { agent, caller } = readTarget(request).asked
    const next = toSequence(new URL(request.url).searchParams.get('fromSequence'))
    noteState(connection, {
      caller,
      hasEnded: next === undefined,
      ...(agent !== undefined && { agent }),
      ...(next !== undefined && { next }),
    })
    this.#pumps.start(connection)
  }

  override async onMessage(connection: Connection, message: unknown): Promise<void> {
    const hasRead = await receive(this.#host, connection, message)
    if (hasRead) this.#pumps.start(connection)
  }

  override onClose(connection: Connection): void {
    this.#pumps.stop(connection)
  }

  override onError(connection: Connection, err: unknown): void {
    this.#host.logger.warn({ err, sessionId: this.name }, 'WebSocket failed')
    this.#pumps.stop(connection)
  }

  /** The alarm of the object: a subclass that has work of its own calls it as well. */
  override async onAlarm(): Promise<void> {
    await this.#host.ready()
    await this.#host.ring()
  }

  /** The platform gives up an alarm that fails a few times: here it rings again, ever later. */
  override async alarm(): Promise<void> {
    try {
      if (this.#isErased) await this.#begin()
      await super.alarm()
      this.#host.noteRung()
      await this.#eraseUnused()
      await this.#eraseAbandoned()
    } catch (err) {
      this.#host.logger.error({ err }, 'alarm could not be answered')
      await this.#host.ringLater()
    }
  }

  /** Nothing is stored for a request that makes no session. */
  async #answer(request: Request): Promise<Response> {
    const isEmpty = await this.#host.isEmpty()
    if (isWebSocketUpgrade(request)) {
      await this.#allowSocket(request)
      await this.#begin()
      return super.fetch(request)
    }
    if (isEmpty && !this.#mayBegin(request)) return this.onRequest(request)
    this.#beginning++
    try {
      await this.#begin()
      if (!this.#hasAnswered) this.#host.noteRung()
      this.#hasAnswered = true
      return await this.onRequest(request)
    } finally {
      this.#beginning--
      if (isEmpty) await this.#eraseUnused()
    }
  }

  /** Files of a branch whose session was never made: nobody else would remove them. */
  async #eraseAbandoned(): Promise<void> {
    if (this.#beginning > 0 || !(await this.#host.isUnmade())) return
    if (await hasAbandonedFiles(this.#host)) await deleteSession(this.#host)
  }

  #eraseUnused(): Promise<void> {
    return eraseUnusedObject(this.ctx.storage, () => this.#beginning > 0)
  }

  /** Whether a request may store something in an object without a session. */
  #mayBegin(request: Request): boolean {
    const { pathname } = new URL(request.url)
    if (customEndpoint(this.#host, pathname) !== undefined) return true
    if (actionOf(request.method, pathname).action === 'start') return true
    // A path of a subclass.
    return methodsOf(pathname) === undefined && this.onRequest !== AgentServer.prototype.onRequest
  }

  /** What `partyserver` does before all else: its own errors are shown to clients. */
  async #begin(): Promise<void> {
    await this.setName(this.name)
    if (!this.#isErased) return
    this.#isErased = false
    await this.ctx.blockConcurrencyWhile(async () => this.onStart())
  }

  /** @throws {RequestError} 404, 429 */
  async #allowSocket(request: Request): Promise<void> {
    if (new URL(request.url).pathname !== SOCKET_PATH) throw notFound('route')
    const { asked } = readTarget(request)
    known(await openAccess(this.#host, asked))
    const { maxWebSockets: max = DEFAULT_MAX_SOCKETS } = this.#host.options
    const callers = [...this.getConnections()].map((socket) => stateOf(socket).caller)
    const count = this.ctx.getWebSockets().length
    assertSocketPlace({ count, callers }, asked.caller, max)
  }

  /** `partyserver` sends what an `onConnect` throws to the client, with its stack. */
  #guardOnConnect(): void {
    const onConnect = this.onConnect.bind(this)
    const { logger } = this.#host
    this.onConnect = async (connection, context) => {
      try {
        await onConnect(connection, context)
      } catch (err) {
        logger.error({ err, sessionId: this.name }, 'WebSocket could not be connected')
        connection.close(FAILED, 'the session failed')
      }
    }
  }

  #forget(): void {
    this.#isErased = true
    for (const socket of this.getConnections()) socket.close(DELETED, 'the session was deleted')
  }

  async #open(): Promise<void> {
    try {
      await this.#host.ready()
    } catch (error) {
      this.#host.logger.error({ err: error }, 'object could not be opened')
    }
  }
}

/** A class of agent objects; give it a name by extending it, and export that from the Worker. */
export type AgentServerClass<Env> = (new (
  ctx: DurableObjectState,
  env: Cloudflare.Env & Env,
) => AgentServer<Env>) & { options: { hibernate: boolean } }

/**
 * Makes the class of Durable Objects that run agents, one session an object. It needs a SQLite
 * class (`new_sqlite_classes`), and requests reach it by `routeAgentRequest`.
 * @throws {TypeError} for options of a wrong kind.
 */
export function createAgentServer<Env = Cloudflare.Env>(
  options: AgentServerOptions<Env>,
): AgentServerClass<Env> {
  assertServerOptions(options)
  return class extends AgentServer<Env> {
    constructor(ctx: DurableObjectState, env: Cloudflare.Env & Env) {
      super(ctx, env, options)
    }
  }
}

function toSequence(value: string | null): number | undefined {
  if (value === null || !/^\d{1,15}$/.test(value)) return undefined
  return Number(value)
}
