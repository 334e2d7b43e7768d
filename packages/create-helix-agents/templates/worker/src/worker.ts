import { VercelAIAdapter } from '@helix-agents/llm-vercel'
import { createAgentServer, routeAgentRequest } from '@helix-agents/runtime-cloudflare'
import { CloudflareFileStoreWorkspaceProvider } from '@helix-agents/workspace-cloudflare-filestore'
import { createAgent } from './agent.ts'
import { modelOf } from './model.ts'
import { scriptedModel } from './scripted-model.ts'

interface Bindings {
  readonly AGENTS: DurableObjectNamespace
  /** `npx wrangler secret put API_TOKEN`; without it every request is rejected. */
  readonly API_TOKEN?: string
}

declare global {
  namespace Cloudflare {
    interface Env extends Bindings {}
  }
}

/** One session: its conversation, its stream and its files, in one Durable Object. */
export class AgentServer extends createAgentServer({
  agents: (env) => [createAgent(modelOf(env) ?? 'scripted')],
  llmAdapter: (env) => (modelOf(env) === undefined ? scriptedModel : new VercelAIAdapter()),
  workspaceProviders: (_env, { storage }) => [
    new CloudflareFileStoreWorkspaceProvider({ storage }),
  ],
}) {}

export default {
  async fetch(request, env) {
    const response = await routeAgentRequest(request, env, {
      binding: 'AGENTS',
      authenticate: ({ headers }) => (isAllowed(headers, env) ? { userId: 'owner' } : null),
    })
    return response ?? new Response('not found', { status: 404 })
  },
} satisfies ExportedHandler<Cloudflare.Env>

function isAllowed(headers: Headers, { API_TOKEN }: Cloudflare.Env): boolean {
  // A secret that is not set would be the text "undefined".
  if (!API_TOKEN) return false
  const encoder = new TextEncoder()
  const given = encoder.encode(headers.get('authorization') ?? '')
  const expected = encoder.encode(`Bearer ${API_TOKEN}`)
  return given.length === expected.length && crypto.subtle.timingSafeEqual(given, expected)
}
