// Sessions whose workspaces are in several homes, and processes that die while they work on them.
import { type Agent, defineAgent, MockLLMAdapter, type MockStep } from '@helix-agents/core'
import type { WorkspaceRef } from '@helix-agents/core/provider'
import { ManualClock } from '@helix-agents/core/testing'
import { JSAgentExecutor } from '@helix-agents/runtime-js'
import { InMemoryStateStore, InMemoryStreamManager } from '@helix-agents/store-memory'
import { createFileStoreHome, createSandboxHome } from './cloud-homes.ts'
import { createLocalHome, createMemoryHome, type Home } from './homes.ts'
import { DyingProcess } from './process.ts'
import { dyingProvider, type Tree, treeOf } from './provider.ts'

export type HomeName = keyof typeof HOMES

const HOMES = {
  'in-memory': createMemoryHome,
  'local-bash': createLocalHome,
  'cloudflare-filestore': createFileStoreHome,
  'sandbox portable': (clock: ManualClock) => createSandboxHome('portable', clock),
  'sandbox backups': (clock: ManualClock) => createSandboxHome('backups', clock),
}

export const homeNames = Object.keys(HOMES) as readonly HomeName[]

/** Longer than a lease. */
const LEASE_MS = 1000
const AFTER_A_LEASE_MS = 5000

export const call = (workspace: string, tool: string, given: object): MockStep => ({
  type: 'tool_calls',
  toolCalls: [{ id: 'a', name: `workspace__${workspace}__${tool}`, arguments: given }],
})
export const end: MockStep = { type: 'text', content: 'Done.', shouldStop: true }

export class CrashWorld {
  readonly clock = new ManualClock(Date.now())
  readonly store = new InMemoryStateStore()
  readonly homes: readonly Home[]
  readonly agent: Agent
  /** What each snapshot has to hold, by its name. */
  readonly expected = new Map<string, Tree>()
  /** Every session that there was. */
  readonly ids = new Set<string>()
  readonly #streams = new InMemoryStreamManager()

  /** @param names Homes; `declared` says in which of them a workspace begins, by its name. */
  constructor(names: readonly HomeName[], declared: Readonly<Record<string, HomeName>>) {
    this.homes = names.map((name) => HOMES[name](this.clock))
    const homeOf = (name: HomeName): Home | undefined => this.homes[names.indexOf(name)]
    this.agent = defineAgent({
      name: 'a',
      llmConfig: { model: {} },
      workspaces: Object.fromEntries(
        Object.entries(declared).map(([name, home]) => {
          const provider = homeOf(home)?.config ?? { kind: home }
          const history = { on: 'step', keep: 3 } as const
          return [name, { provider, capabilities: { fs: true, snapshot: true }, history }]
        }),
      ),
    })
  }

  executor(process: DyingProcess, ...steps: readonly MockStep[]): JSAgentExecutor {
    const store = process.wrap('sessions', this.store)
    const workspaceProviders = this.homes.map((home) =>
      dyingProvider(process, home.provider(process), (ref, tree) => {
        this.expected.set(home.nameOfSnapshot(ref), tree)
      }),
    )
    return new JSAgentExecutor(store, this.#streams, new MockLLMAdapter([...steps]), {
      workspaceProviders,
      clock: this.clock,
      leaseMs: LEASE_MS,
    })
  }

  /** One turn, to its end. */
  async run(process: DyingProcess, sessionId: string, ...steps: readonly MockStep[]) {
    this.ids.add(sessionId)
    const executor = this.executor(process, ...steps, end)
    const options = { sessionId, keepWorkspaces: true }
    return (await executor.execute(this.agent, 'go', options)).result()
  }

  /** Ids of the checkpoints of a session, the oldest first. */
  async points(sessionId: string): Promise<readonly string[]> {
    const { items } = await this.store.listCheckpoints(sessionId, { limit: 200 })
    return items.toReversed().map(({ id }) => id)
  }

  homeOf({ providerId }: { readonly providerId: string }): Home {
    const found = this.homes.find(({ config }) => config.kind === providerId)
    if (found === undefined) throw new Error(`no home ${providerId}`)
    return found
  }

  async refOf(sessionId: string, workspace: string): Promise<WorkspaceRef | undefined> {
    return (await this.store.loadSession(sessionId))?.workspaceRefs[workspace]
  }

  /** The files that a session has now, as a process that never dies sees them. */
  async filesOf(sessionId: string, workspace: string): Promise<Tree | undefined> {
    const ref = await this.refOf(sessionId, workspace)
    if (ref === undefined) return undefined
    const home = this.homeOf(ref)
    const { ws } = await home.provider(new DyingProcess()).resolve(ref, {
      workspace,
      session: { sessionId, agentType: 'a' },
      config: home.config,
      capabilities: {},
      signal: new AbortController().signal,
      logger: { debug() {}, info() {}, warn() {}, error() {} },
      clock: this.clock,
    })
    if (ws.fs === undefined) throw new Error('no files')
    const tree = await treeOf(ws.fs)
    await ws.detach?.()
    return tree
  }

  /** A new process, once the lease of the dead one is over, settles what was left and collects. */
  async settle(deleting: ReadonlySet<string> = new Set()): Promise<void> {
    await this.clock.advance(AFTER_A_LEASE_MS)
    const executor = this.executor(new DyingProcess(), end, end, end)
    const { items } = await this.store.listSessions({ limit: 200 })
    for (const { sessionId } of items) {
      if (deleting.has(sessionId)) {
        await executor.deleteSession(this.agent, sessionId)
        continue
      }
      await this.#recover(executor, sessionId)
      await executor.releaseWorkspaces(this.agent, sessionId, { graceMs: 0 })
    }
  }

  /** A process that died before it has stored the first message of a session leaves nothing to do. */
  async #recover(executor: JSAgentExecutor, sessionId: string): Promise<void> {
    const { messages } = await this.store.loadMessages(sessionId, { limit: 1 })
    if (messages.length === 0) return
    const recovered = await executor.recover(this.agent, sessionId)
    if (recovered.outcome === 'resumed') await recovered.handle.result()
  }

  dispose(): void {
    for (const home of this.homes) home.dispose()
  }
}
