// The fields of the custom state that come with a message are stored when the message is.
import { defineAgent, MockLLMAdapter, type MockStep } from '@helix-agents/core'
import { ManualClock } from '@helix-agents/core/testing'
import { JSAgentExecutor } from '@helix-agents/runtime-js'
import { InMemoryStateStore, InMemoryStreamManager } from '@helix-agents/store-memory'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { DEATHS, DoomedProcess, failingStore } from './crash/failing-store.ts'
import { say, settle } from './harness.ts'

const LEASE_MS = 60_000
const stateSchema = z.object({ topic: z.string().default('none'), count: z.number().default(0) })
const agent = defineAgent({
  name: 'a',
  llmConfig: { model: {} },
  stateSchema,
  systemPrompt: (state) => `About ${state.topic}.`,
})

class World {
  readonly store = new InMemoryStateStore()
  readonly streams = new InMemoryStreamManager()
  readonly prompts: (string | undefined)[] = []
  now = 1_000_000

  process(doomed = new DoomedProcess(Infinity)): JSAgentExecutor {
    this.now += 2 * LEASE_MS
    const answer: MockStep = ({ systemPrompt }) => {
      this.prompts.push(systemPrompt)
      return say('yes')
    }
    const model = new MockLLMAdapter(Array.from({ length: 5 }, () => answer))
    return new JSAgentExecutor(failingStore(this.store, doomed), this.streams, model, {
      clock: new ManualClock(this.now),
      leaseMs: LEASE_MS,
    })
  }

  async turn(topic: string, doomed?: DoomedProcess): Promise<void> {
    const executor = this.process(doomed)
    const input = { message: topic, state: { topic } }
    const run = executor.execute(agent, input, { sessionId: 's' })
    const done = run.then((handle) => handle.result())
    await (doomed === undefined ? done : Promise.race([done.catch(() => undefined), settle()]))
    await settle()
  }

  async said(): Promise<readonly unknown[]> {
    const { messages } = await this.store.loadMessages('s')
    return messages.filter(({ role }) => role === 'user').map(({ content }) => content)
  }
}

describe.each(DEATHS)('a process that dies in a further turn, %s', (death) => {
  test('has stored the state that came with each stored message', async () => {
    for (let at = 1; at <= 8; at++) {
      const world = new World()
      await world.turn('bees')
      const doomed = new DoomedProcess(at, death)
      await world.turn('ants', doomed)
      const isHeard = (await world.said()).includes('ants')
      const executor = world.process()
      if ((await executor.canResume(agent, 's')).canResume) {
        await (await executor.resume(agent, 's')).result()
      }
      const { customState } = (await world.store.loadSession('s'))!
      const last = doomed.operations.at(-1)
      expect({ at, last, customState }).toMatchObject({
        customState: { topic: isHeard ? 'ants' : 'bees' },
      })
    }
  })

  test('has stored it in the first turn, or the next attempt does', async () => {
    for (let at = 1; at <= 6; at++) {
      const world = new World()
      await world.turn('bees', new DoomedProcess(at, death))
      const heard = world.store
        .loadMessages('s')
        .then(({ total }) => total > 0)
        .catch(() => false)
      if (await heard) continue
      await world.turn('ants')
      const { customState } = (await world.store.loadSession('s'))!
      expect({ at, customState }).toMatchObject({ customState: { topic: 'ants', count: 0 } })
      expect(world.prompts).toEqual(['About ants.'])
    }
  })
})
