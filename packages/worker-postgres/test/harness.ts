// What the tests of the worker share: a queue on a real PostgreSQL, workers on one store in memory.
import {
  type Agent,
  defineAgent,
  defineTool,
  type LLMAdapter,
  MockLLMAdapter,
} from '@helix-agents/core'
import { RecordingLogger } from '@helix-agents/core/testing'
import { createTestDatabase } from '@helix-agents/postgres-testbed'
import { JSAgentExecutor } from '@helix-agents/runtime-js'
import { InMemoryStateStore, InMemoryStreamManager } from '@helix-agents/store-memory'
import {
  createWorker,
  openTurnQueue,
  type TurnQueue,
  type Worker,
  type WorkerOptions,
} from '@helix-agents/worker-postgres'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import * as z from 'zod'

/** Calls the tool `effect` for the last message, then says `done`. */
export const model: LLMAdapter = {
  generateStep: (input) => {
    const last = input.messages.at(-1)
    const step =
      last?.role === 'user'
        ? ({
            type: 'tool_calls',
            toolCalls: [{ id: 'effect', name: 'effect', arguments: { of: last.content } }],
          } as const)
        : ({ type: 'text', content: 'done', shouldStop: true } as const)
    return new MockLLMAdapter([step]).generateStep(input)
  },
}

export interface Cluster extends AsyncDisposable {
  readonly url: string
  readonly queue: TurnQueue
  readonly store: InMemoryStateStore
  readonly agent: Agent
  readonly logger: RecordingLogger
  /** An agent with a workspace whose files are on a machine. */
  readonly local: Agent
  /** The same, with a history of it. */
  readonly movable: Agent
  /** Messages whose tool has begun, in order. */
  readonly effects: string[]
  /** The tool of these messages waits until it is open. */
  readonly held: Map<string, PromiseWithResolvers<void>>
  /** The most tools that ran at a time. */
  readonly most: () => number
  /** A worker as of another process. */
  worker(options?: Partial<WorkerOptions> & { readonly leaseMs?: number }): Promise<Worker>
}

export async function createCluster(): Promise<Cluster> {
  const database = await createTestDatabase()
  const store = new InMemoryStateStore()
  const streams = new InMemoryStreamManager()
  const logger = new RecordingLogger()
  const queue = await openTurnQueue({ connectionString: database.url, logger })
  const effects: string[] = []
  const held = new Map<string, PromiseWithResolvers<void>>()
  let running = 0
  let most = 0
  const effectOf = (writes: boolean) =>
    defineTool({
      name: 'effect',
      description: 'Has an effect.',
      inputSchema: z.object({ of: z.string() }),
      execute: async ({ of }, { workspaces, abortSignal }) => {
        effects.push(of)
        most = Math.max(most, ++running)
        if (writes) await workspaces.use('box', async ({ live }) => live.fs?.writeFile('/of', of))
        const { promise: aborted, resolve } = Promise.withResolvers<void>()
        abortSignal.addEventListener('abort', () => resolve())
        await Promise.race([held.get(of)?.promise, aborted])
        running--
        return of
      },
    })
  const base = { llmConfig: { model: {} }, tools: [effectOf(true)] }
  const box = {
    provider: { kind: 'in-memory' },
    capabilities: { fs: true, snapshot: true },
  } as const
  const agent = defineAgent({ ...base, name: 'a', tools: [effectOf(false)] })
  const local = defineAgent({ ...base, name: 'local', workspaces: { box } })
  const movable = defineAgent({
    ...base,
    name: 'movable',
    workspaces: { box: { ...box, history: 'step' } },
  })
  // The disk of all machines, so that a session that moves keeps its files.
  const workspaceProviders = [new InMemoryWorkspaceProvider()]
  const workers: Worker[] = []
  return {
    url: database.url,
    queue,
    store,
    agent,
    local,
    movable,
    logger,
    effects,
    held,
    most: () => most,
    worker: async ({ leaseMs = 60_000, ...options } = {}) => {
      const executor = new JSAgentExecutor(store, streams, model, {
        logger,
        leaseMs,
        workspaceProviders,
      })
      const parts = { queue, stateStore: store, agents: [agent, local, movable], logger }
      const worker = createWorker(executor, { ...parts, ...options })
      workers.push(worker)
      await worker.start()
      return worker
    },
    [Symbol.asyncDispose]: async () => {
      for (const gate of held.values()) gate.resolve()
      await Promise.all(workers.map((worker) => worker.stop()))
      await queue.close()
      await database.drop()
    },
  }
}

/** Holds the tool of a message up. */
export function hold(cluster: Cluster, message: string): { readonly open: () => void } {
  const gate = Promise.withResolvers<void>()
  cluster.held.set(message, gate)
  return { open: gate.resolve }
}

export async function statusOf({ store }: Cluster, sessionId: string): Promise<string | undefined> {
  return (await store.loadSession(sessionId))?.status
}
