import type { JSAgentExecutor } from '@helix-agents/runtime-js'
import { type Connection, type ConnectionContext, Server } from 'partyserver'
import { SOCKET_PATH } from '../http/endpoints.ts'
import { notFound, toErrorResponse, toRefusal } from '../http/http-error.ts'
import { respond } from '../http/respond.ts'
import { isWebSocketUpgrade, readTarget, withoutClientControl } from '../route/object-request.ts'
import { receive } from '../socket/socket-messages.ts'
import { SocketPumps } from '../socket/socket-pumps.ts'
import { noteState, stateOf } from '../socket/socket-state.ts'
import { AgentHost } from './agent-host.ts'
import type { AgentServerOptions } from './agent-server-options.ts'
import { maySee, openAccess } from './session-access.ts'

/**
 * A Durable Object that is one session: its name is the id of the session. `createAgentServer`
 * makes the class.
 */
export abstract class AgentServer<Env = Cloudflare.Env> extends Server<Cloudflare.Env & Env> {
  /** WebSockets do not keep the object in memory. */
  static override options = { hibernate: true }

  readonly #host: AgentHost<Env>
  readonly #pumps: SocketPumps
  /** Why this instance cannot work. */
  #failure: { readonly error: unknown } | undefined

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
    })
    this.#host = host
    this.#pumps = new SocketPumps({
      streamManager: host.streamManager,
      sessionId,
      sockets: () => this.getConnections(),
      mayRead: (socket) => maySee(host, stateOf(socket)),
      logger: host.logger,
    })
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
      await this.#ready()
      const clean = withoutClientControl(request)
      if (isWebSocketUpgrade(clean)) await this.#allowSocket(clean)
      return await super.fetch(clean)
    } catch (error) {
      const { logger } = this.#host
      return toErrorResponse(toRefusal(error, logger, { method: request.method }))
    }
  }

  override onRequest(request: Request): Promise<Response> {
    return respond(this.#host, request)
  }

  override onConnect(connection: Connection, { request }: ConnectionContext): void {
    const { agent, caller } = readTarget(request)
    const next = toSequence(new URL(request.url).searchParams.get('fromSequence'))
    noteState(connection, {
      caller,
      hasEnded: next === undefined,
      ...(agent === undefined ? {} : { agent }),
      ...(next === undefined ? {} : { next }),
    })
    this.#pumps.start(connection)
  }

  override onMessage(connection: Connection, message: unknown): Promise<void> {
    return receive(this.#host, connection, message)
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
    // What cannot be opened is rung for again by the platform.
    await this.#ready()
    await this.#host.ring()
  }

  /** Tries again what has failed: it may have been the storage for a moment. */
  async #ready(): Promise<void> {
    if (this.#failure !== undefined) await this.#open()
    if (this.#failure !== undefined) throw this.#failure.error
  }

  /** @throws {RequestError} 404 */
  async #allowSocket(request: Request): Promise<void> {
    if (new URL(request.url).pathname !== SOCKET_PATH) throw notFound('route')
    await openAccess(this.#host, readTarget(request))
  }

  async #open(): Promise<void> {
    this.#failure = undefined
    try {
      await this.#host.open()
      this.#pumps.startAll()
    } catch (error) {
      this.#host.logger.error({ err: error }, 'object could not be opened')
      this.#failure = { error }
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
 */
export function createAgentServer<Env = Cloudflare.Env>(
  options: AgentServerOptions<Env>,
): AgentServerClass<Env> {
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
