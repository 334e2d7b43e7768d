import type { Workspace } from '@helix-agents/core/provider'
import type { FileStoreFileSystem } from './file-store-file-system.ts'

/** A handle on the files of one namespace. */
export class FileStoreWorkspace implements Workspace {
  readonly id: string
  readonly isolation = 'isolate'
  readonly fs: FileStoreFileSystem
  readonly #end: () => Promise<void>

  constructor(id: string, fs: FileStoreFileSystem, end: () => Promise<void>) {
    this.id = id
    this.fs = fs
    this.#end = end
  }

  /** The files stay in the database, for a later `resolve`. */
  async detach(): Promise<void> {}

  /**
   * Removes the files, unless sessions share them. Of a large tree the handle is `lost` at once, and
   * this resolves when all is removed.
   */
  async close(): Promise<void> {
    await this.#end()
    this.fs.close()
  }
}
