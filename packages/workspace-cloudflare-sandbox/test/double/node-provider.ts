import type { WorkspaceProvider } from '@helix-agents/core/provider'
import { CloudflareSandboxWorkspaceProvider } from '@helix-agents/workspace-cloudflare-sandbox'
import { SandboxWorld } from './memory-world.ts'

/** The provider over sandboxes in memory, for tests with providers of other packages. */
export function createNodeProvider(): WorkspaceProvider {
  return new CloudflareSandboxWorkspaceProvider({ driver: new SandboxWorld().createDriver })
}
