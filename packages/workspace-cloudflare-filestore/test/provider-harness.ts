import { noopLogger, systemClock } from '@helix-agents/core'
import {
  fileSystemConfigSchema,
  type OpenOptions,
  type WorkspaceRef,
} from '@helix-agents/core/provider'
import {
  type CloudflareFileStoreProviderOptions,
  CloudflareFileStoreWorkspaceProvider,
  type FileStoreStorage,
} from '@helix-agents/workspace-cloudflare-filestore'

export type ProviderSetup = Omit<CloudflareFileStoreProviderOptions, 'storage'>

export function createProvider(
  storage: FileStoreStorage,
  setup: ProviderSetup = {},
): CloudflareFileStoreWorkspaceProvider {
  return new CloudflareFileStoreWorkspaceProvider({ storage, ...setup })
}

export const session = { sessionId: 'session-1', agentType: 'tester' }

export function openOptions(overrides: Partial<OpenOptions> = {}): OpenOptions {
  return {
    workspace: 'box',
    capabilities: { fs: fileSystemConfigSchema.parse({ maxFileSizeMb: 4096 }) },
    signal: new AbortController().signal,
    logger: noopLogger,
    clock: systemClock,
    ...overrides,
  }
}

/** Removes the files of a session through another handle: behind the back of the first. */
export function closeElsewhere(storage: DurableObjectStorage, setup: ProviderSetup) {
  return async (ref: WorkspaceRef): Promise<void> => {
    const { id } = ref.ref as { id: string }
    const row = storage.sql
      .exec<{ session: string }>('SELECT session FROM helix_fs_namespaces WHERE public_id = ?', id)
      .one()
    const sessionId = JSON.parse(row.session) as string
    const owner = { ...openOptions(), session: { sessionId, agentType: 'tester' } }
    const { ws } = await createProvider(storage, setup).resolve(ref, owner)
    await ws.close()
  }
}
