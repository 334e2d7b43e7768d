import type {
  HeldBySession,
  OpenedWorkspace,
  OpenOptions,
  ProviderHistory,
  ResolveOptions,
  RestoreReceipt,
  SessionRef,
  WorkspaceProvider,
} from '../../../src/workspace/provider.ts'
import type { WorkspaceRef } from '../../../src/workspace/ref.ts'
import type { Workspace } from '../../../src/workspace/workspace.ts'
import { TreeFileSystem } from '../tree-file-system.ts'

interface TreeConfig {
  readonly kind: string
}

/** Workspaces with files in memory and no snapshots of their own; records its calls. */
export class TreeProvider implements WorkspaceProvider<TreeConfig> {
  readonly providerId = 'tree'
  readonly capabilities = { fs: true }
  readonly refSchemaVersion = 3
  readonly trees = new Map<string, TreeFileSystem>()
  readonly calls: string[] = []
  readonly opened: OpenOptions[] = []
  readonly resolved: ResolveOptions[] = []
  readonly parsed: unknown[] = []
  receipt: RestoreReceipt = { outcome: 'created' }
  /** Changes a workspace before it is given out. */
  prepare: (ws: Workspace, fs: TreeFileSystem) => Workspace = (ws) => ws
  history?: ProviderHistory
  toolNotes?: { readonly fs: string }
  identify?: (ref: WorkspaceRef) => string
  release?: (ref: WorkspaceRef, options: ResolveOptions) => Promise<void>
  #count = 0

  parseConfig(config: unknown): TreeConfig {
    this.parsed.push(config)
    return { kind: 'tree' }
  }

  async open(_config: TreeConfig, _session: SessionRef, options: OpenOptions) {
    this.#count += 1
    const id = `tree-${this.#count}`
    this.calls.push(`open ${id}`)
    this.opened.push(options)
    this.trees.set(id, new TreeFileSystem())
    return this.#give(id, this.receipt)
  }

  async resolve(ref: WorkspaceRef, options: ResolveOptions) {
    this.resolved.push(options)
    return this.#give((ref.ref as { id: string }).id, { outcome: 'reattached', detail: 'There.' })
  }

  refOf(id: string): WorkspaceRef {
    return { providerId: 'tree', schemaVersion: 3, capabilities: { fs: true }, ref: { id } }
  }

  hold(held: HeldBySession): void {
    this.history = { list: async () => held } as unknown as ProviderHistory
  }

  #give(id: string, receipt: RestoreReceipt): OpenedWorkspace {
    const fs = this.trees.get(id)
    if (fs === undefined) throw new RangeError(`there is no ${id}`)
    const ws = this.prepare(
      {
        id,
        isolation: 'process',
        fs,
        detach: async () => void this.calls.push(`detach ${id}`),
        close: async () => {
          await Promise.resolve()
          this.calls.push(`close ${id}`)
          this.trees.delete(id)
        },
      },
      fs,
    )
    return { ws, ref: this.refOf(id), receipt }
  }
}
