// A worker in a process of its own. It runs until it is killed.
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
import * as z from 'zod'

export interface ChildTask {
  readonly url: string
  readonly leaseMs: number
  /** The process kills itself in the tool. */
  readonly dies: boolean
}

/** Calls its tool, then answers with the last message of the user. */
export function createAgent(onCall: () => void = () => {}): Agent {
  const effect = defineTool({
    name: 'effect',
    description: 'May end the process.',
    inputSchema: z.object({}),
    execute: () => {
      onCall()
      return 'done'
    },
  })
  return defineAgent({ name: 'echo', llmConfig: { model: {} }, tools: [effect] })
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
  const { url, leaseMs, dies } = JSON.parse(process.argv[2] ?? '') as ChildTask
  const { stateStore, streamManager } = await openPostgresStores(url)
  const queue = await openTurnQueue({ connectionString: url })
  const agent = createAgent(() => {
    if (dies) process.kill(process.pid, 'SIGKILL')
  })
  const executor = new JSAgentExecutor(stateStore, streamManager, model, { leaseMs })
  const searchMs = Math.ceil(leaseMs / 2)
  await createWorker(executor, { queue, stateStore, agents: [agent], searchMs }).start()
  // The parent ends it; without this, a parent that is killed would leave it behind.
  process.stdin.on('end', () => process.exit(0)).resume()
}
