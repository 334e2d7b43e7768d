import type { Agent, LLMAdapter } from '@helix-agents/core'
import type { WorkspaceProvider } from '@helix-agents/core/provider'
import type { SessionStateStore, StreamManager } from '@helix-agents/core/runtime'
import type {
  JSAgentExecutor,
  JSAgentExecutorOptions,
  WorkspaceProviders,
} from '@helix-agents/runtime-js'
import type { DurableObjectStoresOptions } from '@helix-agents/store-cloudflare'
import type { Caller } from '../route/caller.ts'
import type { ServerHooks } from './server-hooks.ts'

/** The session that an object is for. */
export interface ObjectSession {
  readonly sessionId: string
}

/** What an endpoint of the application may use. */
export interface EndpointContext<Env> extends ObjectSession {
  /** The bindings of the Worker. */
  readonly env: Env
  /** The state of the object. */
  readonly ctx: DurableObjectState
  /** Who sends the request. */
  readonly caller: Caller
  /** Starts runs that survive an eviction of the object. */
  readonly executor: JSAgentExecutor
  readonly stateStore: SessionStateStore
  readonly streamManager: StreamManager
}

/** Answers a request for a path of its own. What it throws is a 500, or the `RequestError` it is. */
export type EndpointHandler<Env> = (
  request: Request,
  context: EndpointContext<Env>,
) => Response | Promise<Response>

/** Makes the providers of one object. */
export type CreateProviders<Env> = (
  env: Env,
  ctx: DurableObjectState,
  session: ObjectSession,
) => WorkspaceProviders | readonly WorkspaceProvider[]

type ExecutorOptions = Omit<JSAgentExecutorOptions, 'workspaceProviders' | 'leaseMs'>

/** What `createAgentServer` is given. */
export interface AgentServerOptions<Env> extends ExecutorOptions {
  /** The model; made for each run, when it is called first. */
  readonly llmAdapter: (env: Env, ctx: DurableObjectState) => LLMAdapter
  /** The agents that a session can be of; a function when they need bindings or the storage. */
  readonly agents: readonly Agent[] | ((env: Env, ctx: DurableObjectState) => readonly Agent[])
  /** The kinds of workspaces on offer, made once for each instance of an object. Default: none. */
  readonly workspaceProviders?: CreateProviders<Env>
  /** Called around the turns that clients request. Default: none. */
  readonly hooks?: ServerHooks
  /** Further paths, matched before the built-in ones. Default: none. */
  readonly endpoints?: Readonly<Record<string, EndpointHandler<Env>>>
  /**
   * Whether workspaces outlive the runs that clients start, so that the next turn finds its files.
   * Default: `true`.
   */
  readonly keepWorkspaces?: boolean
  /** Largest body of a request, and largest message of a WebSocket, in bytes. Default 1 MiB. */
  readonly maxBodyBytes?: number
  /** How long a body may take to arrive, in milliseconds; after that it is a 408. Default 30 000. */
  readonly bodyTimeoutMs?: number
  /**
   * Bodies of a session that are on their way at a time, and commands of its WebSockets that are not
   * answered: each holds memory. One more is a 429; one `userId` has at most half of them. Default 32.
   */
  readonly maxUnreadBodies?: number
  /**
   * Server-sent event readers of a session at a time: each holds up to a page of the stream in
   * memory. The next one is a 429. One `userId` has at most half of the places, callers that only
   * read at most three quarters together. Default 100.
   */
  readonly maxStreamReaders?: number
  /** WebSockets of a session at a time. The next one is a 429; shared out as above. Default 100. */
  readonly maxWebSockets?: number
  /**
   * How often a run that was cut off is resumed without progress, before it fails with
   * `recovery-failed`. Default: 5.
   */
  readonly maxResumeAttempts?: number
  /** How often an object is woken while a run is under way, in milliseconds. Default 30 000. */
  readonly heartbeatMs?: number
  /** How much of each stream is kept. Default: that of `openDurableObjectStores`. */
  readonly streams?: NonNullable<DurableObjectStoresOptions['streams']>
}
