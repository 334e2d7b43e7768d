import type { EngineCode, EngineShell, Snapshotter, Workspace } from '@helix-agents/core/provider'
import type { FileStoreFileSystem } from './file-store-file-system.ts'

/** What a {@link FileStoreWorkspace} is made of. */
export interface FileStoreWorkspaceParts {
  readonly id: string
  readonly fs: FileStoreFileSystem
  readonly snapshot: Snapshotter
  /** Runs commands over the files, where the provider has an engine. */
  readonly shell?: EngineShell
  /** Runs code over the files, where the provider has an engine. */
  readonly code?: EngineCode
  /** Removes the files, unless sessions share them. */
  readonly end: () => Promise<void>
}

/** A handle on the files of one namespace. */
export class FileStoreWorkspace implements Workspace {
  readonly id: string
  readonly isolation = 'isolate'
  readonly fs: FileStoreFileSystem
  readonly snapshot: Snapshotter
  readonly shell?: EngineShell
  readonly shellRoot?: string
  readonly code?: EngineCode
  readonly #end: () => Promise<void>

  constructor({ id, fs, snapshot, shell, code, end }: FileStoreWorkspaceParts) {
    this.id = id
    this.fs = fs
    this.snapshot = snapshot
    if (shell !== undefined) {
      this.shell = shell
      this.shellRoot = shell.root
    }
    if (code !== undefined) this.code = code
    this.#end = end
  }

  /** Ends what runs. The files stay in the database, for a later `resolve`. */
  async detach(): Promise<void> {
    await Promise.all([this.shell?.close(), this.code?.close()])
  }

  /**
   * Ends what runs, and removes the files, unless sessions share them. Of a large tree the handle is
   * `lost` at once, and this resolves when all is removed.
   */
  async close(): Promise<void> {
    // Without engines there is nothing to wait for: the handle is lost in this turn.
    if (this.shell !== undefined || this.code !== undefined) await this.detach()
    await this.#end()
    this.fs.close()
  }
}
