// A session whose workspace moves into a sandbox, or has a history there, and whose process dies at any call.
import {
  type Agent,
  type CapabilitiesInput,
  defineAgent,
  MockLLMAdapter,
  type MockStep,
} from '@helix-agents/core'
import { portableSnapshots, type WorkspaceProvider } from '@helix-agents/core/provider'
import type { WorkspaceLifecycleListener } from '@helix-agents/core/runtime'
import { ManualClock, RecordingLogger } from '@helix-agents/core/testing'
import { JSAgentExecutor } from '@helix-agents/runtime-js'
import {
  InMemorySnapshotStore,
  InMemoryStateStore,
  InMemoryStreamManager,
} from '@helix-agents/store-memory'
import {
  type CloudflareSandboxConfigInput,
  CloudflareSandboxWorkspaceProvider,
  type SandboxDirectoryEntry,
} from '@helix-agents/workspace-cloudflare-sandbox'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { SandboxWorld } from '../double/memory-world.ts'
import { kind } from '../double/open-on-double.ts'

/** How a sandbox has its history: a store of snapshots, or backups. */
export type Way = 'portable' | 'backups'

export const call = (tool: string, given: object): MockStep => ({
  type: 'tool_calls',
  toolCalls: [{ id: tool, name: `workspace__box__${tool}`, arguments: given }],
})
export const write = (content: string) => call('write_file', { path: '/a', content })
export const read = call('read_file', { path: '/a' })
const end: MockStep = { type: 'text', content: 'Done.', shouldStop: true }
const sessionId = 's'

export class Story {
  readonly world = new SandboxWorld()
  readonly store = new InMemoryStateStore()
  readonly clock = new ManualClock(1_800_000_000_000)
  readonly logger = new RecordingLogger()
  /** What the directory knows of each sandbox. */
  readonly directory = new Map<string, 'there' | 'gone' | 'owed'>()
  readonly config: Pick<CloudflareSandboxConfigInput, 'kind' | 'backupR2Binding' | 'autoRestore'>
  lifecycle: WorkspaceLifecycleListener = {}
  readonly #streams = new InMemoryStreamManager()
  readonly #snapshots = new InMemorySnapshotStore()
  readonly #memory = new InMemoryWorkspaceProvider()
  readonly #way: Way

  constructor(way: Way = 'portable', more: { readonly autoRestore?: true } = {}) {
    this.#way = way
    this.world.now = () => this.clock.now()
    this.config = { kind, ...(way === 'backups' && { backupR2Binding: 'BACKUP_BUCKET' }), ...more }
  }

  agent(
    provider: { readonly kind: string } = this.config,
    history = false,
    more: CapabilitiesInput = {},
  ): Agent {
    return defineAgent({
      name: 'a',
      llmConfig: { model: {} },
      workspaces: {
        box: { provider, capabilities: { fs: true, ...more }, ...(history && { history: 'step' }) },
      },
    })
  }

  /** Every call of a process and of the container goes through `before` and `after`. */
  executor(steps: readonly MockStep[] = [], gate: () => void = () => {}): JSAgentExecutor {
    this.world.onCall = gate
    const stateStore = new Proxy(this.store, {
      get: (target, key) => {
        const value: unknown = Reflect.get(target, key, target)
        if (typeof value !== 'function') return value
        return async (...given: unknown[]) => {
          gate()
          const result: unknown = await value.apply(target, given)
          gate()
          return result
        }
      },
    })
    return new JSAgentExecutor(stateStore, this.#streams, new MockLLMAdapter([...steps, end]), {
      workspaceProviders: [this.#memory, this.#sandboxes()],
      lifecycle: this.lifecycle,
      logger: this.logger,
      clock: this.clock,
    })
  }

  async run(agent: Agent, ...steps: readonly MockStep[]): Promise<string> {
    const options = { sessionId, keepWorkspaces: true }
    await (await this.executor(steps).execute(agent, 'go', options)).result()
    const { messages } = await this.store.loadMessages(sessionId)
    return JSON.stringify(messages.findLast(({ role }) => role === 'tool')?.content)
  }

  /** Ids of checkpoints, the oldest first. */
  async points(): Promise<readonly string[]> {
    const { items } = await this.store.listCheckpoints(sessionId)
    return items.toReversed().map(({ id }) => id)
  }

  async sandboxInUse(): Promise<unknown> {
    const session = await this.store.loadSession(sessionId)
    const ref = session?.workspaceRefs['box']?.ref
    return typeof ref === 'object' && ref !== null && 'sandbox' in ref ? ref.sandbox : undefined
  }

  #sandboxes(): WorkspaceProvider {
    const note = (state: 'there' | 'gone' | 'owed') => async (entry: SandboxDirectoryEntry) =>
      void this.directory.set(entry.sandboxId, state)
    const provider = new CloudflareSandboxWorkspaceProvider({
      driver: this.world.createDriver,
      localBuckets: true,
      directory: {
        recordOpening: note('there'),
        recordDestroyed: note('gone'),
        recordDestroyFailed: note('owed'),
      },
    })
    if (this.#way === 'backups') return provider
    return portableSnapshots(provider, { store: this.#snapshots })
  }
}
