// The Worker that hosts the agent for the workspaces that only exist there.
import { type LLMAdapter, MockLLMAdapter } from '@helix-agents/core'
import {
  createAgentServer,
  insecureAllowAnyone,
  routeAgentRequest,
} from '@helix-agents/runtime-cloudflare'
import { CloudflareFileStoreWorkspaceProvider } from '@helix-agents/workspace-cloudflare-filestore'
import { createMaintainer } from './agent.ts'
import { readBundledPackage } from './bundled-package.ts'
import { hostedStep, type Part } from './story.ts'

interface Bindings {
  readonly MAINTAINERS: DurableObjectNamespace
  /** Which process of the story this is. */
  readonly PART: Part
}

declare global {
  namespace Cloudflare {
    interface Env extends Bindings {}
  }
}

const maintainer = createMaintainer({
  provider: { kind: 'cloudflare-filestore' },
  hasShell: false,
  readPackage: readBundledPackage,
})

/** Between two answers of the model. A real one takes longer. */
const PACE_MS = 400

function scriptedModel({ PART }: Cloudflare.Env): LLMAdapter {
  return {
    async generateStep(input) {
      await new Promise((resolve) => setTimeout(resolve, PACE_MS))
      return new MockLLMAdapter([hostedStep(PART, input.messages)]).generateStep(input)
    },
  }
}

export class Maintainer extends createAgentServer({
  llmAdapter: scriptedModel,
  agents: [maintainer],
  workspaceProviders: (_, ctx) => [
    new CloudflareFileStoreWorkspaceProvider({ storage: ctx.storage }),
  ],
  heartbeatMs: 2000,
}) {}

export default {
  async fetch(request, env) {
    // It listens on this machine only, for as long as the demo runs.
    const options = { binding: 'MAINTAINERS', authenticate: insecureAllowAnyone }
    const response = await routeAgentRequest(request, env, options)
    return response ?? new Response('not an agent', { status: 404 })
  },
} satisfies ExportedHandler<Cloudflare.Env>
