import { defineAgent, type LLMAdapter } from '@helix-agents/core'
import { createAgentServer, routeAgentRequest } from '@helix-agents/runtime-cloudflare'
import { CloudflareFileStoreWorkspaceProvider } from '@helix-agents/workspace-cloudflare-filestore'

interface Env {
  AGENTS: DurableObjectNamespace<ResearchServer>
  API_TOKEN: string
}

const researcher = defineAgent({
  name: 'researcher',
  systemPrompt: 'Keep what you find out in /notes.',
  llmConfig: { model: 'your-model' },
  workspaces: {
    notes: { provider: { kind: 'cloudflare-filestore' }, capabilities: { fs: true } },
  },
})

declare function createModel(env: Env): LLMAdapter // yours

export class ResearchServer extends createAgentServer<Env>({
  agents: [researcher],
  llmAdapter: (env) => createModel(env),
  workspaceProviders: (_env, ctx) => [
    new CloudflareFileStoreWorkspaceProvider({ storage: ctx.storage }),
  ],
}) {}

export default {
  async fetch(request, env) {
    const response = await routeAgentRequest(request, env, {
      binding: 'AGENTS',
      authenticate: (asked) => (isAllowed(asked, env) ? { userId: 'owner' } : null),
    })
    return response ?? new Response('not found', { status: 404 })
  },
} satisfies ExportedHandler<Env>

function isAllowed({ headers }: Request, { API_TOKEN }: Env): boolean {
  // A secret that is not set would be the text "undefined".
  if (!API_TOKEN) return false
  const encoder = new TextEncoder()
  const given = encoder.encode(headers.get('authorization') ?? '')
  const expected = encoder.encode(`Bearer ${API_TOKEN}`)
  return given.length === expected.length && crypto.subtle.timingSafeEqual(given, expected)
}
