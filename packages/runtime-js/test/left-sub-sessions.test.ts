// A restored checkpoint takes steps back whose sub-agents had sessions of their own. What they
// left is not the answer to a later call that happens to have their place.
import {
  createSubAgentTool,
  defineAgent,
  MockLLMAdapter,
  type MockStep,
  type ToolResultMessage,
} from '@helix-agents/core'
import { ManualClock } from '@helix-agents/core/testing'
import { JSAgentExecutor } from '@helix-agents/runtime-js'
import { InMemoryStateStore, InMemoryStreamManager } from '@helix-agents/store-memory'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { DEATHS, DoomedProcess, failingStore } from './crash/failing-store.ts'
import { calls, say, settle } from './harness.ts'

const LEASE_MS = 60_000
const child = defineAgent({ name: 'child', llmConfig: { model: {} } })
const parent = defineAgent({
  name: 'parent',
  llmConfig: { model: {} },
  tools: [createSubAgentTool(child, z.object({ task: z.string() }))],
})
const ask = (task: string) => calls(['subagent__child', { task }])

class World {
  readonly store = new InMemoryStateStore()
  readonly streams = new InMemoryStreamManager()
  now = 1_000_000

  process(steps: readonly MockStep[], doomed = new DoomedProcess(Infinity)) {
    this.now += 2 * LEASE_MS
    const store = failingStore(this.store, doomed)
    return new JSAgentExecutor(store, this.streams, new MockLLMAdapter(steps), {
      clock: new ManualClock(this.now),
      leaseMs: LEASE_MS,
    })
  }

  async results(): Promise<readonly unknown[]> {
    const { messages } = await this.store.loadMessages('s')
    return messages
      .filter((message): message is ToolResultMessage => message.role === 'tool')
      .map(({ content }) => content)
  }
}

test.each(DEATHS)('a process that dies in a step that was taken back before, %s', async (death) => {
  for (let at = 1; at <= 12; at++) {
    const world = new World()
    const first = world.process([say('before', false), ask('old'), say('old answer'), say('done')])
    await (await first.execute(parent, 'Go', { sessionId: 's' })).result()
    expect(await world.results()).toEqual(['old answer'])
    const { items } = await world.store.listCheckpoints('s')
    await world.process([]).restoreCheckpoint(parent, 's', items.at(-1)!.id)
    const doomed = new DoomedProcess(at, death)
    const dying = world.process([ask('new'), say('new answer'), say('done')], doomed)
    const run = dying.resume(parent, 's').then((handle) => handle.result())
    await Promise.race([run.catch(() => undefined), settle()])
    await settle()
    const open = (await world.store.loadSession('s'))?.status !== 'completed'
    const answer: MockStep = ({ messages, agentType }) => {
      if (agentType === 'child') return say('new answer')
      return messages.some(({ role }) => role === 'tool') ? say('done') : ask('new')
    }
    const next = world.process(Array.from({ length: 6 }, () => answer))
    if (open) await (await next.resume(parent, 's')).result()
    const last = doomed.operations.at(-1)
    expect({ at, last, results: await world.results() }).toMatchObject({ results: ['new answer'] })
  }
})
