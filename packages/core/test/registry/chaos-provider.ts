import { WorkspaceEvictedError, WorkspaceFailedError } from '@helix-agents/core'
import type {
  OpenedWorkspace,
  OpenOptions,
  ResolveOptions,
  SessionRef,
  Workspace,
  WorkspaceProvider,
  WorkspaceRef,
} from '@helix-agents/core/provider'
import type { ManualClock } from '@helix-agents/core/testing'
import { ref } from './harness.ts'

/** How one call of the provider goes. */
export interface Fault {
  readonly delayMs: number
  readonly result: 'ok' | 'transient' | 'permanent' | 'foreign' | 'evicted' | 'incapable'
}

/** One handle that the provider gave out, and what became of it. */
export interface Handle {
  readonly id: string
  readonly isFresh: boolean
  /** How often it was closed or detached. */
  readonly releases: ('close' | 'detach')[]
  isEvicted: boolean
}

export interface ChaosOptions {
  readonly clock: ManualClock
  readonly faults: readonly Fault[]
  /** Undefined: not watched. */
  readonly maxConcurrentOpens: number | undefined
  readonly honoursSignal: boolean
  readonly violations: string[]
}

/** A provider that fails as planned and watches over how it is called. */
export class ChaosProvider implements WorkspaceProvider {
  readonly providerId = 'fake'
  readonly refSchemaVersion = 1
  readonly capabilities = { fs: true }
  readonly handles: Handle[] = []
  readonly stored = new Set<string>()
  readonly #options: ChaosOptions
  readonly #inFlight = new Map<string, number>()
  #active = 0
  #calls = 0
  #count = 0

  constructor(options: ChaosOptions) {
    this.#options = options
  }

  open(_: { kind: string }, __: SessionRef, options: OpenOptions): Promise<OpenedWorkspace> {
    return this.#call(options, () => {
      const id = `b${++this.#count}`
      this.stored.add(id)
      return this.#handOut(id, true)
    })
  }

  resolve({ ref: data }: WorkspaceRef, options: ResolveOptions): Promise<OpenedWorkspace> {
    return this.#call(options, () => {
      const { id } = data as { id: string }
      if (!this.stored.has(id)) throw new WorkspaceEvictedError('gone', { code: 'lost' })
      return this.#handOut(id, false)
    })
  }

  handleOf(workspace: Workspace): Handle {
    return this.handles.find((each) => each === (workspace as { handle?: Handle }).handle)!
  }

  async #call(options: OpenOptions, answer: () => OpenedWorkspace): Promise<OpenedWorkspace> {
    const fault = this.#nextFault()
    this.#enter(options.workspace)
    try {
      if (fault.delayMs > 0) {
        const signal = this.#options.honoursSignal ? options.signal : undefined
        await this.#options.clock.sleep(fault.delayMs, signal)
      }
      const error = errorOf(fault)
      if (error !== undefined) throw error
      const opened = answer()
      return fault.result === 'incapable'
        ? { ...opened, ref: { ...opened.ref, capabilities: {} } }
        : opened
    } finally {
      this.#active--
      this.#inFlight.set(options.workspace, this.#inFlight.get(options.workspace)! - 1)
    }
  }

  #enter(workspace: string): void {
    const inFlight = (this.#inFlight.get(workspace) ?? 0) + 1
    this.#inFlight.set(workspace, inFlight)
    this.#active++
    const { maxConcurrentOpens } = this.#options
    if (maxConcurrentOpens === undefined) return
    if (inFlight > 1) this.#options.violations.push(`${workspace} is opened twice at once`)
    if (this.#active > maxConcurrentOpens) {
      this.#options.violations.push(`${this.#active} opens at once`)
    }
  }

  #handOut(id: string, isFresh: boolean): OpenedWorkspace {
    const handle: Handle = { id, isFresh, releases: [], isEvicted: false }
    this.handles.push(handle)
    const release = async (how: 'close' | 'detach'): Promise<void> => {
      handle.releases.push(how)
      const { delayMs, result } = this.#nextFault()
      if (delayMs > 0) await this.#options.clock.sleep(delayMs * 10)
      if (result === 'permanent') throw new Error('cannot let go')
      if (how === 'close') this.stored.delete(id)
    }
    const ws = {
      id,
      isolation: 'process',
      fs: {},
      handle,
      close: () => release('close'),
      detach: () => release('detach'),
    } as unknown as Workspace
    const outcome = isFresh ? 'created' : 'reattached'
    return { ws, ref: ref(id), receipt: { outcome } }
  }

  #nextFault(): Fault {
    const { faults } = this.#options
    return faults[this.#calls++ % faults.length] ?? { delayMs: 0, result: 'ok' }
  }
}

function errorOf({ result }: Fault): Error | undefined {
  if (result === 'foreign') return new Error('surprise')
  if (result === 'evicted') return new WorkspaceEvictedError('not yet back')
  if (result === 'permanent') return new WorkspaceFailedError('provider-failed', 'no')
  if (result !== 'transient') return undefined
  return new WorkspaceFailedError('provider-failed', 'busy', { transient: true, retryAfterMs: 100 })
}
