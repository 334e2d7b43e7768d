import { WorkspaceEvictedError } from '@helix-agents/core'
import type {
  OpenedWorkspace,
  OpenOptions,
  ResolveOptions,
  RestoreReceipt,
  SessionRef,
  Workspace,
  WorkspaceCapabilityFlags,
  WorkspaceProvider,
  WorkspaceRef,
} from '@helix-agents/core/provider'

/** What a call does before it answers: wait, throw, or change the receipt. */
type Hook = (
  signal: AbortSignal,
) => Promise<Partial<OpenedWorkspace> | void> | Partial<OpenedWorkspace> | void

/** A provider that does what a test tells it, and writes down what is asked of it. */
export class FakeProvider implements WorkspaceProvider {
  readonly providerId: string
  readonly refSchemaVersion = 1
  capabilities: WorkspaceCapabilityFlags = { fs: true }
  /** Everything that happened, in order; shared with the test's persistence. */
  readonly events: string[]
  onOpen: Hook = () => {}
  onResolve: Hook = () => {}
  onClose: (id: string) => Promise<void> | void = () => {}
  onDetach: (id: string) => Promise<void> | void = () => {}
  /** Backends that exist; a ref to another one is lost. */
  readonly stored = new Set<string>()
  resolveOutcome: RestoreReceipt = { outcome: 'reattached' }
  #count = 0

  constructor(events: string[] = [], providerId = 'fake') {
    this.events = events
    this.providerId = providerId
  }

  async open(
    _config: { kind: string },
    _session: SessionRef,
    { signal }: OpenOptions,
  ): Promise<OpenedWorkspace> {
    this.events.push('open')
    const changes = await this.onOpen(signal)
    const id = `b${++this.#count}`
    this.stored.add(id)
    return { ...this.#opened(id), receipt: { outcome: 'created' }, ...changes }
  }

  async resolve(ref: WorkspaceRef, { signal }: ResolveOptions): Promise<OpenedWorkspace> {
    const { id } = ref.ref as { id: string }
    this.events.push(`resolve ${id}`)
    const changes = await this.onResolve(signal)
    if (!this.stored.has(id)) throw new WorkspaceEvictedError('gone', { code: 'lost' })
    return { ...this.#opened(id), receipt: this.resolveOutcome, ...changes }
  }

  ref(id: string): WorkspaceRef {
    return {
      providerId: this.providerId,
      schemaVersion: 1,
      capabilities: this.capabilities,
      ref: { id },
    }
  }

  #opened(id: string): Pick<OpenedWorkspace, 'ws' | 'ref'> {
    const modules = Object.entries(this.capabilities).filter(([, has]) => has)
    const ws: Workspace = {
      id,
      isolation: 'process',
      ...Object.fromEntries(modules.map(([module]) => [module, {}])),
      detach: async () => {
        this.events.push(`detach ${id}`)
        await this.onDetach(id)
      },
      close: async () => {
        this.events.push(`close ${id}`)
        await this.onClose(id)
        this.stored.delete(id)
      },
    }
    return { ws, ref: this.ref(id) }
  }
}
