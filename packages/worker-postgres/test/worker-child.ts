// A worker in a process of its own. It runs until it is killed.
import { setImmediate } from 'node:timers/promises'
import {
  type Agent,
  defineAgent,
  defineTool,
  type LLMAdapter,
  MockLLMAdapter,
} from '@helix-agents/core'
import { JSAgentExecutor } from '@helix-agents/runtime-js'
import { openPostgresStores } from '@helix-agents/store-postgres'
import { createWorker, openTurnQueue } from '@helix-agents/worker-postgres'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import * as z from 'zod'

export interface ChildTask {
  readonly url: string
  readonly leaseMs: number
  /** The process kills itself in the tool. */
  readonly dies: boolean
  /** Default: the host name. */
  readonly machine?: string
  /** The agent has files on the machine; the process dies once its session is known to stay there. */
  readonly isLocal?: boolean
}

/** Calls its tool, then answers with the last message of the user. */
export function createAgent(onCall: () => void | Promise<void> = () => {}, isLocal = false): Agent {
  const effect = defineTool({
    name: 'effect',
    description: 'May end the process.',
    inputSchema: z.object({}),
    execute: async (_, { workspaces }) => {
      if (isLocal) await workspaces.use('box', async ({ live }) => live.fs?.writeFile('/f', 'x'))
      await onCall()
      return 'done'
    },
  })
  const base = { name: 'echo', llmConfig: { model: {} }, tools: [effect] }
  if (!isLocal) return defineAgent(base)
  const box = { provider: { kind: 'in-memory' }, capabilities: { fs: true } } as const
  return defineAgent({ ...base, workspaces: { box } })
}

export const model: LLMAdapter = {
  generateStep: (input) => {
    const last = input.messages.at(-1)
    const said = input.messages.findLast((message) => message.role === 'user')?.content
    const step =
      last?.role === 'user'
        ? ({
            type: 'tool_calls',
            toolCalls: [{ id: 'effect', name: 'effect', arguments: {} }],
          } as const)
        : ({ type: 'text', content: `heard ${said}`, shouldStop: true } as const)
    return new MockLLMAdapter([step]).generateStep(input)
  },
}

if (import.meta.main) {
  const { url, leaseMs, dies, machine, isLocal } = JSON.parse(process.argv[2] ?? '') as ChildTask
  const { stateStore, streamManager } = await openPostgresStores(url)
  const queue = await openTurnQueue({ connectionString: url })
  const agent = createAgent(async () => {
    if (!dies) return
    if (isLocal === true) while ((await queue.homes(['s'])).length === 0) await setImmediate()
    process.kill(process.pid, 'SIGKILL')
  }, isLocal)
  const executor = new JSAgentExecutor(stateStore, streamManager, model, {
    leaseMs,
    workspaceProviders: [new InMemoryWorkspaceProvider()],
  })
  await createWorker(executor, {
    queue,
    stateStore,
    agents: [agent],
    searchMs: Math.ceil(leaseMs / 2),
    ...(machine !== undefined && { machine }),
  }).start()
  // The parent ends it; without this, a parent that is killed would leave it behind.
  process.stdin.on('end', () => process.exit(0)).resume()
}
