// Sessions with a history whose process dies at any call of its store or its provider.
import { defineAgent, MockLLMAdapter, type MockStep } from '@helix-agents/core'
import type { SnapshotRef, WorkspaceProvider } from '@helix-agents/core/provider'
import type { SessionStateStore } from '@helix-agents/core/runtime'
import { ManualClock } from '@helix-agents/core/testing'
import { JSAgentExecutor } from '@helix-agents/runtime-js'
import { InMemoryStateStore, InMemoryStreamManager } from '@helix-agents/store-memory'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'

export const agent = defineAgent({
  name: 'a',
  llmConfig: { model: {} },
  workspaces: {
    box: {
      provider: { kind: 'in-memory' },
      capabilities: { fs: true },
      history: { on: 'step', keep: 4 },
    },
  },
})

/** The process: it dies at one of its calls, before that has an effect or after. */
export class Process {
  /** Calls until its death. */
  #left: number
  #isDead = false

  constructor(left: number) {
    this.#left = left
  }

  get isDead(): boolean {
    return this.#isDead
  }

  async call<T>(work: () => Promise<T>): Promise<T> {
    this.#live()
    this.#left -= 1
    if (this.#left === 0) this.#isDead = true
    this.#live()
    const result = await work()
    this.#left -= 1
    if (this.#left === 0) this.#isDead = true
    this.#live()
    return result
  }

  #live(): void {
    if (this.#isDead) throw new Error('the process is dead')
  }

  /** An object whose methods are calls of this process. */
  wrap<T extends object>(target: T, only?: readonly string[]): T {
    return new Proxy(target, {
      get: (object, key) => {
        const value: unknown = Reflect.get(object, key, object)
        if (typeof value !== 'function') return value
        if (only !== undefined && !only.includes(String(key))) return value.bind(object)
        return (...given: unknown[]) => this.call(async () => value.apply(object, given))
      },
    })
  }
}

/** What outlives processes: stores, provider, time; and what every snapshot must hold. */
export class World {
  readonly clock = new ManualClock()
  readonly store = new InMemoryStateStore()
  readonly streams = new InMemoryStreamManager()
  readonly provider = new InMemoryWorkspaceProvider()
  /** Content of the file at the time of each snapshot. */
  readonly expected = new Map<string, string>()
  readonly ids = new Set<string>()
  /** Sessions whose removal has begun. */
  readonly deleting = new Set<string>()

  executor(process: Process, steps: readonly MockStep[]): JSAgentExecutor {
    return new JSAgentExecutor(this.#store(process), this.streams, new MockLLMAdapter(steps), {
      workspaceProviders: [this.#provider(process)],
      clock: this.clock,
      leaseMs: 1000,
    })
  }

  #store(process: Process): SessionStateStore {
    return process.wrap<InMemoryStateStore>(this.store)
  }

  #provider(process: Process): WorkspaceProvider {
    const { provider } = this
    const history = process.wrap(provider.history)
    const watch = async (given: ReturnType<typeof provider.open>) => {
      const made = await given
      const { fs, snapshot } = made.ws
      const take = snapshot!.snapshot.bind(snapshot)
      snapshot!.snapshot = (options) =>
        process.call(async () => {
          const content = await readOr(fs!)
          const ref = await take(options)
          this.expected.set(JSON.stringify(ref), content)
          return ref
        })
      return made
    }
    return Object.assign(Object.create(provider), {
      providerId: provider.providerId,
      capabilities: provider.capabilities,
      toolNotes: provider.toolNotes,
      refSchemaVersion: provider.refSchemaVersion,
      parseConfig: provider.parseConfig.bind(provider),
      open: (...given: Parameters<typeof provider.open>) =>
        process.call(() => watch(provider.open(...given))),
      resolve: (...given: Parameters<typeof provider.resolve>) =>
        process.call(() => watch(provider.resolve(...given))),
      release: (...given: Parameters<typeof provider.release>) =>
        process.call(() => provider.release(...given)),
      history,
    })
  }

  /** What a snapshot holds, as one who restores it sees it. */
  async contentOf(snapshot: SnapshotRef): Promise<string> {
    const options = {
      workspace: 'box',
      session: { sessionId: 'auditor', agentType: 'a' },
      capabilities: {},
      signal: new AbortController().signal,
      logger: { debug() {}, info() {}, warn() {}, error() {} },
      clock: this.clock,
    }
    const allowed = { ...options, allowCrossSession: true }
    const ref = await this.provider.history.restore(snapshot, allowed)
    const { ws } = await this.provider.resolve(ref, options)
    const content = await readOr(ws.fs!)
    await this.provider.release(ref)
    return content
  }
}

async function readOr(fs: { readFile(path: string): Promise<Uint8Array> }): Promise<string> {
  try {
    return new TextDecoder().decode(await fs.readFile('/a'))
  } catch {
    // No file yet.
    return ''
  }
}
