// Takes the place of `filestore-peer.ts` in the bundle when the peers are installed.
import { createWorkspaceStateBackend, Workspace } from '@cloudflare/shell'

export function createPeer(storage) {
  const workspace = new Workspace({ sql: storage.sql, name: () => 'bench' })
  const state = createWorkspaceStateBackend(workspace)
  return Object.assign(workspace, {
    searchFiles: (pattern, query) => state.searchFiles(pattern, query),
  })
}
