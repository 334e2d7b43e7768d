import { DurableObject } from 'cloudflare:workers'
import { type Agent, type Clock, defineAgent, type Logger, systemClock } from '@helix-agents/core'
import {
  type AgentServer,
  type AgentServerOptions,
  createAgentServer,
  insecureAllowAnyone,
  routeAgentRequest,
} from '@helix-agents/runtime-cloudflare'
import { CloudflareFileStoreWorkspaceProvider } from '@helix-agents/workspace-cloudflare-filestore'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { clockError, say, scripts } from './scripts.ts'

interface Bindings {
  AGENTS: DurableObjectNamespace<TestAgent>
  HEALTH: DurableObjectNamespace<HealthAgent>
  QUICK: DurableObjectNamespace<QuickAgent>
  BARE: DurableObjectNamespace<BareAgent>
  TABLED: DurableObjectNamespace<TabledAgent>
  LEGACY: DurableObjectNamespace<LegacyAgent>
  NARROW: DurableObjectNamespace<NarrowAgent>
  PLAIN: DurableObjectNamespace<PlainObject>
  FILES: R2Bucket
}

declare global {
  namespace Cloudflare {
    interface GlobalProps {
      mainModule: typeof import('./worker.ts')
    }
    interface Env extends Bindings {}
  }
}

/** Lines of the log, newest last. */
export const lines: {
  readonly level: string
  readonly fields: object
  readonly message: string
}[] = []
const log =
  (level: string) =>
  (fields: object, message: string): void =>
    void lines.push({ level, fields, message })
const logger: Logger = {
  debug: log('debug'),
  info: log('info'),
  warn: log('warn'),
  error: log('error'),
}

const clock: Clock = { ...systemClock, now: () => Date.now() + clockError.ms }

const box = { provider: { kind: 'in-memory' }, capabilities: { fs: true } } as const

function agentsOf(ctx: DurableObjectState, name = 'tested'): readonly Agent[] {
  const tools = scripts.get(ctx.id.name ?? '')?.tools ?? []
  const made = typeof tools === 'function' ? tools(ctx) : tools
  const common = { llmConfig: { model: 'scripted' }, tools: made }
  return [
    defineAgent({ ...common, name, workspaces: { box } }),
    defineAgent({ ...common, name: 'quick' }),
    defineAgent({ ...common, name: 'other' }),
    defineAgent({ ...common, name: 'narrow' }),
  ]
}

const options: AgentServerOptions<Cloudflare.Env> = {
  llmAdapter: (_, ctx) => ({
    generateStep: async (input) =>
      scripts.get(ctx.id.name ?? '')?.brain(input.messages, input) ?? say('done'),
  }),
  agents: (_, ctx) => scripts.get(ctx.id.name ?? '')?.agents?.(ctx) ?? agentsOf(ctx),
  workspaceProviders: (_, { id, storage }) => [
    new InMemoryWorkspaceProvider(),
    new CloudflareFileStoreWorkspaceProvider({ storage }),
    ...(scripts.get(id.name ?? '')?.providers?.(storage) ?? []),
  ],
  lifecycle: {
    onOpen: (event) => scripts.get(event.session.sessionId)?.lifecycle?.onOpen?.(event),
    onClose: (event) => scripts.get(event.session.sessionId)?.lifecycle?.onClose?.(event),
  },
  logger,
  clock,
  maxBodyBytes: 10_000,
  hooks: {
    beforeStart: (turn) => scripts.get(turn.sessionId)?.hooks?.beforeStart?.(turn),
    afterStart: (turn) => scripts.get(turn.sessionId)?.hooks?.afterStart?.(turn),
    beforeResume: (turn) => scripts.get(turn.sessionId)?.hooks?.beforeResume?.(turn),
    afterResume: (turn) => scripts.get(turn.sessionId)?.hooks?.afterResume?.(turn),
  },
  endpoints: {
    '/whoami': (_, { caller, sessionId }) => Response.json({ caller, sessionId }),
    '/count': (_, { ctx }) => {
      const count = Number(ctx.storage.kv.get('count') ?? 0) + 1
      ctx.storage.kv.put('count', count)
      return Response.json({ count })
    },
    '/cached': () => new Response('x', { headers: { 'cache-control': 'max-age=60' } }),
    '/broken': () => {
      throw new Error('secret of the server')
    },
  },
}

export class TestAgent extends createAgentServer(options) {}

/** Is woken soon, and opens all workspaces at once, two at a time. */
export class QuickAgent extends createAgentServer({
  ...options,
  heartbeatMs: 30,
  // More than a body takes on a busy machine: a test waits it out.
  bodyTimeoutMs: 2000,
  workspaceOpenStrategy: 'eager',
  workspaceMaxConcurrentOpens: 2,
}) {}

/** Every limit at its smallest, and files for one turn only. */
export class NarrowAgent extends createAgentServer({
  ...options,
  maxUnreadBodies: 1,
  maxStreamReaders: 1,
  maxWebSockets: 1,
  maxResumeAttempts: 1,
  streams: { maxBufferedChunks: 3 },
  keepWorkspaces: false,
}) {}

/** As the runbook prints it. */
export class HealthAgent extends createAgentServer({
  llmAdapter: (_, ctx) => ({
    generateStep: async (input) =>
      scripts.get(ctx.id.name ?? '')?.brain(input.messages, input) ?? say('done'),
  }),
  agents: (_, ctx) => agentsOf(ctx, 'health'),
  workspaceProviders: () => new Map([['in-memory', new InMemoryWorkspaceProvider()]]),
}) {
  // oxfmt-ignore
  async fetch(req: Request): Promise<Response> {
    const url = new URL(req.url);
    if (url.pathname === '/healthz') {
      const sessionId = req.headers.get('x-partykit-room') ?? '';
      const registry = this.executor.getWorkspaceRegistry(sessionId);
      if (!registry) {
        return new Response(JSON.stringify({ error: 'no active session' }), {
          status: 404,
          headers: { 'Content-Type': 'application/json' },
        });
      }
      return Response.json({ workspaces: registry.describe() });
    }
    // ... rest of your fetch routing ...
    return super.fetch(req);
  }
}

/** The least there is to say; its providers cannot be told apart. */
export class BareAgent extends createAgentServer({
  llmAdapter: () => ({ generateStep: async () => say('bare') }),
  agents: [defineAgent({ name: 'bare', llmConfig: { model: 'scripted' } })],
  workspaceProviders: () => [new InMemoryWorkspaceProvider(), new InMemoryWorkspaceProvider()],
}) {}

/** Its migration is a wrong one. */
export class LegacyAgent extends createAgentServer(options) {}

/** Bound by mistake: it is no server of agents. */
export class PlainObject extends DurableObject {}

/** Begins with a table of its own, and has paths that `createAgentServer` does not know. */
export class TabledAgent extends createAgentServer({
  ...options,
  agents: (_, ctx) => [
    defineAgent({
      name: 'tabled',
      llmConfig: { model: 'scripted' },
      workspaces: {
        files: { provider: { kind: 'cloudflare-filestore' }, capabilities: { fs: true } },
      },
    }),
    ...agentsOf(ctx),
  ],
  workspaceProviders: (env, { storage }) => [
    new InMemoryWorkspaceProvider(),
    new CloudflareFileStoreWorkspaceProvider({
      storage,
      r2: env.FILES,
      inlineThresholdBytes: 1000,
    }),
  ],
}) {
  override onStart(): void {
    if (failing.has(this.name)) throw new Error('secret of the start')
    this.ctx.storage.sql.exec('CREATE TABLE IF NOT EXISTS own (x)')
    this.ctx.storage.sql.exec('INSERT INTO own VALUES (1)')
  }

  override onConnect(...args: Parameters<AgentServer['onConnect']>): void | Promise<void> {
    if (failing.has(`${this.name} connect`)) throw new Error('secret of the connection')
    return super.onConnect(...args)
  }

  override async onRequest(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url)
    if (pathname === '/thrown') throw new Error('secret of the request')
    return super.onRequest(request)
  }
}

/** Sessions whose objects cannot begin. */
export const failing = new Set<string>()

const bindings: Readonly<Record<string, string>> = {
  tested: 'AGENTS',
  other: 'AGENTS',
  health: 'HEALTH',
  quick: 'QUICK',
  recorded: 'QUICK',
  tabled: 'TABLED',
  legacy: 'LEGACY',
  narrow: 'NARROW',
  plain: 'PLAIN',
  unbound: 'MISSING',
}

export default {
  async fetch(request, env) {
    const response = await routeAgentRequest(request, env, {
      binding: bindings,
      authenticate: insecureAllowAnyone,
      logger,
    })
    return response ?? new Response('not an agent', { status: 418 })
  },
} satisfies ExportedHandler<Cloudflare.Env>
