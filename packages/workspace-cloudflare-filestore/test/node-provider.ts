import type { WorkspaceProvider } from '@helix-agents/core/provider'
import { NodeStorage } from './node-storage.ts'
import { createProvider, type ProviderSetup } from './provider-harness.ts'

/** Where the files are, and how the provider is set up. */
export interface NodeProviderSetup extends ProviderSetup {
  /** Of the database. Default: in memory. */
  readonly databasePath?: string
}

/** The provider over the SQLite of Node, for tests with providers of other packages. */
export function createNodeProvider({
  databasePath,
  ...setup
}: NodeProviderSetup = {}): WorkspaceProvider {
  return createProvider(new NodeStorage(databasePath), setup)
}
