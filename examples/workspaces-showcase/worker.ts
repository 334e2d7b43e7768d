// The Worker that hosts the agent for `cloudflare-filestore`.
import {
  createAgentServer,
  insecureAllowAnyone,
  routeAgentRequest,
} from '@helix-agents/runtime-cloudflare'
import { justBashShell } from '@helix-agents/shell-just-bash'
import { quickJsCode } from '@helix-agents/code-quickjs'
import { CloudflareFileStoreWorkspaceProvider } from '@helix-agents/workspace-cloudflare-filestore'
import { createMaintainer } from './agent.ts'
import { readBundledPackage } from './bundled-package.ts'
import { filestoreStory, type Part } from './story.ts'
import { chosenModel } from './worker-model.ts'

interface Bindings {
  readonly MAINTAINERS: DurableObjectNamespace
  readonly KEEPERS: DurableObjectNamespace
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
  hasSnapshots: true,
  readPackage: readBundledPackage,
  model: 'chosen below',
})

/** Where the session of the third act ends. */
export { Keeper } from './keeper.ts'

export class Maintainer extends createAgentServer({
  llmAdapter: (env) => chosenModel(env, filestoreStory()),
  agents: [maintainer],
  workspaceProviders: (_, ctx) => [
    new CloudflareFileStoreWorkspaceProvider({
      storage: ctx.storage,
      shell: justBashShell(),
      code: quickJsCode(),
    }),
  ],
  heartbeatMs: 2000,
}) {}

export default {
  async fetch(request, env) {
    // It listens on this machine only, for as long as the demo runs.
    const binding = { maintainer: 'MAINTAINERS', careless: 'KEEPERS' }
    const options = { binding, authenticate: insecureAllowAnyone }
    const response = await routeAgentRequest(request, env, options)
    return response ?? new Response('not an agent', { status: 404 })
  },
} satisfies ExportedHandler<Cloudflare.Env>
