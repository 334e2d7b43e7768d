import type { Workspace } from '@helix-agents/core/provider'
import type { FileStoreFileSystem } from './file-store-file-system.ts'

/** A handle on the files of one namespace. */
export class FileStoreWorkspace implements Workspace {
  readonly id: string
  readonly isolation = 'isolate'
  readonly fs: FileStoreFileSystem
  readonly #end: () => void

  constructor(id: string, fs: FileStoreFileSystem, end: () => void) {
    this.id = id
    this.fs = fs
    this.#end = end
  }

  /** The files stay in the database, for a later `resolve`. */
  async detach(): Promise<void> {}

  /** Removes the files, unless sessions share them. */
  async close(): Promise<void> {
    this.#end()
    this.fs.close()
  }
}
