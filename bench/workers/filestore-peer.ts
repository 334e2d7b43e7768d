import type { FileStoreStorage } from '@helix-agents/workspace-cloudflare-filestore'

/** What the tasks use of `Workspace` of @cloudflare/shell. */
export interface Peer {
  readFile(path: string): Promise<string | null>
  readFileBytes(path: string): Promise<Uint8Array | null>
  writeFile(path: string, text: string): Promise<void>
  writeFileBytes(path: string, bytes: Uint8Array): Promise<void>
  stat(path: string): Promise<unknown>
  readDir(path: string): Promise<unknown>
  glob(pattern: string): Promise<unknown>
  searchFiles(pattern: string, query: string): Promise<unknown>
}

/** The bundle gives this module the peer in its place; without one there is none. */
export function createPeer(_storage: FileStoreStorage): Peer | undefined {
  return undefined
}
