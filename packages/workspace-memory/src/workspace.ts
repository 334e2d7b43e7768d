import type { Workspace } from '@helix-agents/core/provider'
import type { InMemoryFileSystem } from './in-memory-file-system.ts'

/** A handle on one workspace in memory. */
export class InMemoryWorkspace implements Workspace {
  readonly id: string
  readonly isolation = 'isolate'
  readonly fs: InMemoryFileSystem
  readonly #end: () => void

  constructor(id: string, fs: InMemoryFileSystem, end: () => void) {
    this.id = id
    this.fs = fs
    this.#end = end
  }

  /** The files stay with the provider, for a later `resolve`. */
  async detach(): Promise<void> {}

  /** Frees the files. */
  async close(): Promise<void> {
    this.#end()
  }
}
