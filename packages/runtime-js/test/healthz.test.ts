// The two health endpoints of the runbook, as printed there, must type-check and work.
import { defineAgent, defineTool, MockLLMAdapter } from '@helix-agents/core'
import { JSAgentExecutor } from '@helix-agents/runtime-js'
import { InMemoryStateStore, InMemoryStreamManager } from '@helix-agents/store-memory'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { calls, gate, say, settle } from './harness.ts'

const hold = gate()
const wait = defineTool({
  name: 'wait',
  description: '',
  inputSchema: z.object({}),
  execute: () => hold.opened,
})
const agent = defineAgent({
  name: 'a',
  llmConfig: { model: {} },
  tools: [wait],
  workspaces: { notes: { provider: { kind: 'in-memory' }, capabilities: { fs: true } } },
})
const executor = new JSAgentExecutor(
  new InMemoryStateStore(),
  new InMemoryStreamManager(),
  new MockLLMAdapter([calls(['wait']), say('ok')]),
  { workspaceProviders: new Map([['in-memory', new InMemoryWorkspaceProvider()]]) },
)

interface HttpResponse {
  status(code: number): HttpResponse
  json(body: unknown): HttpResponse
}
type Handler = (req: { params: { sessionId: string } }, res: HttpResponse) => Promise<HttpResponse>

/** What the snippets expect around them: an HTTP framework, and a Durable Object base class. */
const routes = new Map<string, Handler>()
const app = { get: (path: string, handler: Handler) => void routes.set(path, handler) }

class AgentServer {
  readonly executor = executor

  async fetch(_req: Request): Promise<Response> {
    return new Response('base')
  }
}

// oxfmt-ignore
app.get('/healthz/:sessionId', async (req, res) => {
  const registry = executor.getWorkspaceRegistry(req.params.sessionId);
  if (!registry) {
    return res.status(404).json({ error: 'no active session' });
  }
  return res.json({ workspaces: registry.describe() });
})

// oxfmt-ignore
class MyAgentServer extends AgentServer {
override async fetch(req: Request): Promise<Response> {
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

async function overHttp(sessionId: string): Promise<{ code: number; body: unknown }> {
  const sent: { code: number; body: unknown } = { code: 200, body: undefined }
  const response: HttpResponse = {
    status: (code) => ((sent.code = code), response),
    json: (body) => ((sent.body = body), response),
  }
  await routes.get('/healthz/:sessionId')!({ params: { sessionId } }, response)
  return sent
}

test('both show a session that runs, and 404 for one that does not', async () => {
  const handle = await executor.execute(agent, 'x', { sessionId: 's' })
  await settle()
  const workspaces = [{ name: 'notes', state: 'declared' }]
  expect(await overHttp('s')).toMatchObject({ code: 200, body: { workspaces } })

  const server = new MyAgentServer()
  const ask = (): Promise<Response> =>
    server.fetch(new Request('https://x/healthz', { headers: { 'x-partykit-room': 's' } }))
  expect(await (await ask()).json()).toMatchObject({ workspaces })

  hold.open()
  await handle.result()
  expect(await overHttp('s')).toEqual({ code: 404, body: { error: 'no active session' } })
  expect((await ask()).status).toBe(404)
  expect(await (await server.fetch(new Request('https://x/other'))).text()).toBe('base')
})
