import type { WorkspaceProvider } from '@helix-agents/core/provider'
import { NodeStorage } from './node-storage.ts'
import { createProvider } from './provider-harness.ts'

/** The provider over the SQLite of Node, for tests with providers of other packages. */
export function createNodeProvider(): WorkspaceProvider {
  return createProvider(new NodeStorage())
}
