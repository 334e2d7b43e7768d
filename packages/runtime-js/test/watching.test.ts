// A session that runs in another process, seen from this one.
import { defineAgent } from '@helix-agents/core'
import type { SessionStateStore } from '@helix-agents/core/runtime'
import { ManualClock } from '@helix-agents/core/testing'
import { InMemoryStateStore } from '@helix-agents/store-memory'
import { expect, test } from 'vitest'
import { createHarness, gate, say, settle } from './harness.ts'

const agent = defineAgent({ name: 'a', llmConfig: { model: {} } })

test('waiting for the result of a run that has just begun elsewhere waits for its stream', async () => {
  const clock = new ManualClock()
  const opened = gate()
  const inner = new InMemoryStateStore()
  const slow = new Proxy(inner, {
    get: (target, key: keyof SessionStateStore) => {
      if (key !== 'loadMessages') return target[key].bind(target as never)
      return async (...args: Parameters<SessionStateStore['loadMessages']>) => {
        await opened.opened
        return target.loadMessages(...args)
      }
    },
  })
  const first = createHarness([say('one')], { clock, store: inner })
  await (await first.executor.execute(agent, 'Go', { sessionId: 's' })).result()
  const second = first.next([say('two')], { clock, store: slow } as never)
  const run = second.executor.execute(agent, 'More', { sessionId: 's' })
  await settle()
  const watcher = first.next([])
  const handle = await watcher.executor.getHandle(agent, 's')
  const result = handle!.result().catch((error: { code: string }) => error.code)
  await settle()
  opened.open()
  await (await run).result()
  await clock.advance(1_000)
  expect(await result).toMatchObject({ status: 'completed', output: 'two' })
})
