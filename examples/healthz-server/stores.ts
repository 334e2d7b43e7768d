import { join } from 'node:path'
import type { SessionStateStore, StreamManager } from '@helix-agents/core/runtime'
import { openSqliteStores } from '@helix-agents/store-sqlite'

/** What the server keeps. To keep it elsewhere, this file is all there is to change. */
export interface Stores {
  readonly stateStore: SessionStateStore
  readonly streamManager: StreamManager
  readonly close: () => Promise<void>
}

/** @param folder is made when it is not there. */
export function openStores(folder: string): Promise<Stores> {
  return openSqliteStores(join(folder, 'helix.db'))
}
