import type { Message } from '@helix-agents/core'
import type { RunWrite } from '@helix-agents/core/runtime'
import { InMemoryStateStore } from '@helix-agents/store-memory'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'

const NOW = 1_700_000_000_000
const write: RunWrite = { sessionId: 's', runId: 'r', now: NOW }

async function running(): Promise<InMemoryStateStore> {
  const store = new InMemoryStateStore()
  const fresh = { sessionId: 's', agentType: 'agent', customState: undefined, now: NOW }
  await store.createSession(fresh)
  await store.beginRun({ ...write, leaseMs: 1000 })
  return store
}

function messageOf(step: number): Message {
  return { role: 'user', content: `step ${step}` }
}

async function runSteps(store: InMemoryStateStore, from: number, to: number): Promise<void> {
  for (let step = from; step < to; step++) {
    await store.beginStep({ ...write, messages: [], journal: [] })
    const checkpointId = `cpv1-s-s${step}-t${NOW}-abcdef`
    await store.commitStep({ ...write, messages: [messageOf(step)], checkpointId })
  }
}

test('messages and state are shared by reference, never copied', async () => {
  const store = await running()
  const [message, state] = [messageOf(0), { list: [1] }]
  const commit = { messages: [message], checkpointId: '1', customState: { value: state } }
  await store.commitStep({ ...write, ...commit })
  await store.commitStep({ ...write, messages: [], checkpointId: '2' })
  expect((await store.loadMessages('s')).messages[0]).toBe(message)
  expect((await store.loadSession('s'))?.customState).toBe(state)
  expect((await store.getCheckpoint('s', '1'))?.customState).toBe(state)
  expect((await store.getCheckpoint('s', '2'))?.customState).toBe(state)
})

test('more messages at once than a call takes arguments', async () => {
  const store = await running()
  const messages = Array.from({ length: 300_000 }, () => messageOf(0))
  await store.appendMessages({ ...write, messages })
  expect((await store.loadMessages('s', { limit: 0 })).total).toBe(300_000)
})

test('a page or a head that was handed out does not change', async () => {
  const store = await running()
  await runSteps(store, 0, 2)
  const head = await store.loadSession('s')
  const before = structuredClone(head)
  const page = await store.listCheckpoints('s')
  const runs = await store.listRuns('s')
  await runSteps(store, 2, 4)
  expect(head).toEqual(before)
  expect(page.items).toHaveLength(2)
  expect(runs[0]?.stepCount).toBe(2)
})

test('a cursor beyond the end, after a restore, gives what is left', async () => {
  const store = await running()
  await runSteps(store, 0, 6)
  const { nextCursor = '' } = await store.listCheckpoints('s', { limit: 1 })
  await store.endRun({ ...write, status: 'interrupted' })
  await store.restoreCheckpoint('s', `cpv1-s-s1-t${NOW}-abcdef`, NOW)
  const page = await store.listCheckpoints('s', { cursor: nextCursor })
  expect(page.items.map((checkpoint) => checkpoint.stepCount)).toEqual([2, 1])
})

test('paging of any list, with any limit, gives each entry once and in order', async () => {
  const sizes = fc.record({ count: fc.nat(40), limit: fc.integer({ min: 1, max: 12 }) })
  await fc.assert(
    fc.asyncProperty(sizes, async ({ count, limit }) => {
      const store = await running()
      await runSteps(store, 0, count)
      const seen: number[] = []
      let cursor: string | undefined
      do {
        const query = cursor === undefined ? { limit } : { limit, cursor }
        const page = await store.listCheckpoints('s', query)
        expect(page.items.length).toBeLessThanOrEqual(limit)
        seen.push(...page.items.map((checkpoint) => checkpoint.stepCount))
        cursor = page.nextCursor
      } while (cursor !== undefined)
      expect(seen).toEqual(Array.from({ length: count }, (_, index) => count - index))
    }),
    { numRuns: 50 },
  )
})
