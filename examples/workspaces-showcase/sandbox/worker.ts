// The Worker that hosts the agent for `cloudflare-sandbox`: the agent in one object, its container
// in another.
import {
  createAgentServer,
  insecureAllowAnyone,
  routeAgentRequest,
} from '@helix-agents/runtime-cloudflare'
import {
  CloudflareSandboxWorkspaceProvider,
  createSdkDriver,
  type SandboxNamespace,
} from '@helix-agents/workspace-cloudflare-sandbox'
import { createMaintainer } from '../agent.ts'
import { readBundledPackage } from '../bundled-package.ts'
import { sandboxStory } from '../sandbox-story.ts'
import type { Part } from '../story.ts'
import { chosenModel } from '../worker-model.ts'

// The classes of the containers.
export { ContainerProxy, Sandbox } from '@cloudflare/sandbox'

interface Bindings {
  readonly MAINTAINERS: DurableObjectNamespace
  readonly SANDBOX: SandboxNamespace
  readonly BACKUP_BUCKET: R2Bucket
  /** Which process of the story this is. */
  readonly PART: Part
  /** What runs the containers; on Cloudflare it is absent. */
  readonly ENGINE?: 'local' | 'docker'
}

declare global {
  namespace Cloudflare {
    interface Env extends Bindings {}
  }
}

const maintainer = createMaintainer({
  provider: {
    kind: 'cloudflare-sandbox',
    backupR2Binding: 'BACKUP_BUCKET',
    autoRestore: true,
    // The work is done when the session ends: idle time costs nothing.
    destroyOnClose: true,
  },
  hasSnapshots: true,
  readPackage: readBundledPackage,
  model: 'chosen below',
})

export class Maintainer extends createAgentServer({
  llmAdapter: (env) => chosenModel(env, sandboxStory(env.ENGINE !== 'local')),
  agents: [maintainer],
  workspaceProviders: (env) => [
    new CloudflareSandboxWorkspaceProvider({
      driver: createSdkDriver({
        source: { namespace: env.SANDBOX },
        backupBucket: env.BACKUP_BUCKET,
      }),
      bindings: { ...env },
      localBuckets: env.ENGINE !== undefined,
    }),
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
