import type { Snapshotter, Workspace } from '@helix-agents/core/provider'
import type { InMemoryFileSystem } from './in-memory-file-system.ts'

/** What a handle is made of. */
export interface InMemoryWorkspaceParts {
  readonly fs: InMemoryFileSystem
  readonly snapshot: Snapshotter
  /** Frees the files. */
  readonly end: () => void
}

/** A handle on one workspace in memory. */
export class InMemoryWorkspace implements Workspace {
  readonly id: string
  readonly isolation = 'isolate'
  readonly fs: InMemoryFileSystem
  readonly snapshot: Snapshotter
  readonly #end: () => void

  constructor(id: string, parts: InMemoryWorkspaceParts) {
    this.id = id
    this.fs = parts.fs
    this.snapshot = parts.snapshot
    this.#end = parts.end
  }

  /** The files stay with the provider, for a later `resolve`. */
  async detach(): Promise<void> {}

  /** Frees the files. */
  async close(): Promise<void> {
    this.#end()
  }
}
