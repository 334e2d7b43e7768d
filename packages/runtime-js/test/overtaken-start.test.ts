// A process that starts a turn for a message which another process has taken up meanwhile.
import { InMemoryStateStore } from '@helix-agents/store-memory'
import { expect, test } from 'vitest'
import { agentWith, createHarness, say } from './harness.ts'

const agent = agentWith()

test.each([
  ['completed', () => say('of the other'), { output: 'of the other' }],
  [
    'failed',
    () => {
      throw new Error('the model is broken')
    },
    { error: { code: 'model-failed' } },
  ],
])('has the end of that one: %s', async (status, answer, end) => {
  const store = new InMemoryStateStore()
  const first = createHarness([say('first')], { store })
  await (await first.executor.execute(agent, 'Go', { sessionId: 's' })).result()
  const beginRun = store.beginRun.bind(store)
  store.beginRun = async (start) => {
    store.beginRun = beginRun
    const { handle } = await first.next([answer]).executor.send(agent, 's', 'and then')
    await handle?.result()
    return beginRun(start)
  }
  const { handle } = await first.next([]).executor.send(agent, 's', 'more')
  expect(await handle?.result()).toMatchObject({ status, ...end })
})
