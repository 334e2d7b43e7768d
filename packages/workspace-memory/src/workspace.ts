import type { EngineCode, EngineShell, Snapshotter, Workspace } from '@helix-agents/core/provider'
import type { InMemoryFileSystem } from './in-memory-file-system.ts'

/** What a handle is made of. */
export interface InMemoryWorkspaceParts {
  readonly fs: InMemoryFileSystem
  readonly snapshot: Snapshotter
  /** Runs commands over the files, where the provider has an engine. */
  readonly shell?: EngineShell
  /** Runs code over the files, where the provider has an engine. */
  readonly code?: EngineCode
  /** Frees the files. */
  readonly end: () => void
}

/** A handle on one workspace in memory. */
export class InMemoryWorkspace implements Workspace {
  readonly id: string
  readonly isolation = 'isolate'
  readonly fs: InMemoryFileSystem
  readonly snapshot: Snapshotter
  readonly shell?: EngineShell
  readonly shellRoot?: string
  readonly code?: EngineCode
  readonly #end: () => void

  constructor(id: string, parts: InMemoryWorkspaceParts) {
    this.id = id
    this.fs = parts.fs
    this.snapshot = parts.snapshot
    if (parts.shell !== undefined) {
      this.shell = parts.shell
      this.shellRoot = parts.shell.root
    }
    if (parts.code !== undefined) this.code = parts.code
    this.#end = parts.end
  }

  /** Ends what runs. The files stay with the provider, for a later `resolve`. */
  async detach(): Promise<void> {
    await Promise.all([this.shell?.close(), this.code?.close()])
  }

  /** Ends what runs, and frees the files. */
  async close(): Promise<void> {
    await this.detach()
    this.#end()
  }
}
