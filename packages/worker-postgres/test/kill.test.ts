import { once } from 'node:events'
import { Client } from 'pg'
import { expect, test } from 'vitest'
import { enqueue, type Front, openFront, startWorker } from './processes.ts'
import { createAgent } from './worker-child.ts'

/** What users and the model have said, in order. */
async function saidIn({ stores }: Front, sessionId: string): Promise<readonly unknown[]> {
  const { messages } = await stores.stateStore.loadMessages(sessionId)
  return messages.flatMap(({ role, content }) => (role !== 'tool' && content ? [content] : []))
}

async function turnsBegunIn(client: Client): Promise<number> {
  const { rowCount } = await client.query(
    "SELECT 1 FROM helix_queue.job WHERE state IN ('active', 'completed')",
  )
  return rowCount ?? 0
}

test('a machine whose worker was killed and started again continues its session itself', async () => {
  const front = await openFront()
  const { url, executor, queue } = front
  const task = { url, leaseMs: 20_000, isLocal: true }
  const agent = createAgent(undefined, true)
  const handle = await executor.execute(agent, 'one', { ...enqueue, sessionId: 's' })
  const next = await executor.execute(agent, 'two', { ...enqueue, sessionId: 's' })
  await once(startWorker({ ...task, machine: 'm1', dies: true }), 'exit')
  const [home] = await queue.homes(['s'])
  expect(home).toMatchObject({ machine: 'm1' })
  for (const machine of ['m2', 'm1']) startWorker({ ...task, machine, dies: false })
  expect(await handle.result()).toMatchObject({ status: 'completed' })
  expect(await next.result()).toMatchObject({ output: 'heard two' })
  // A run elsewhere would have taken it along.
  expect(await queue.homes(['s'])).toMatchObject([{ machine: 'm1', since: home?.since }])
  expect(await saidIn(front, 's')).toEqual(['one', 'heard one', 'two', 'heard two'])
}, 120_000)

// The lease is over before the queue notices that the worker is gone, and after.
test.each([1000, 22_000])(
  'turns behind one whose worker was killed run once, in order, unless they are aborted (lease %d ms)',
  async (leaseMs) => {
    const front = await openFront()
    const { url, executor } = front
    const agent = createAgent()
    const execute = (message: string) =>
      executor.execute(agent, message, { ...enqueue, sessionId: 's' })
    const first = await execute('one')
    const second = await execute('two')
    const third = await execute('three')
    const [, signal] = await once(startWorker({ url, leaseMs, dies: true }), 'exit')
    expect(signal).toBe('SIGKILL')
    const fourth = await execute('four')
    await third.abort()
    const client = new Client({ connectionString: url })
    await client.connect()
    expect(await turnsBegunIn(client)).toBe(1)
    await client.end()
    startWorker({ url, leaseMs, dies: false })
    expect(await third.result()).toMatchObject({ status: 'aborted' })
    expect(await fourth.result()).toMatchObject({ status: 'completed', output: 'heard four' })
    for (const turn of [first, second]) {
      expect(await turn.result()).toMatchObject({ status: 'completed' })
    }
    expect(await saidIn(front, 's')).toEqual(
      ['one', 'two', 'four'].flatMap((message) => [message, `heard ${message}`]),
    )
  },
  120_000,
)
