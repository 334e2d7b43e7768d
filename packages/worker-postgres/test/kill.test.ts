import { once } from 'node:events'
import { Client } from 'pg'
import { expect, test, type TestContext } from 'vitest'
import { enqueue, type Front, openFront, startWorker } from './processes.ts'
import { createAgent } from './worker-child.ts'

/** What users and the model have said, in order. */
async function saidIn({ stores }: Front, sessionId: string): Promise<readonly unknown[]> {
  const { messages } = await stores.stateStore.loadMessages(sessionId)
  return messages.flatMap(({ role, content }) => (role !== 'tool' && content ? [content] : []))
}

/** As after a time without a heartbeat of those that are dead; it comes every three seconds. */
async function missHeartbeats(client: Client): Promise<void> {
  await client.query(
    `UPDATE helix_queue.job SET heartbeat_on = heartbeat_on - interval '1 minute' WHERE state = 'active'`,
  )
}

/** As after the time of the lease. */
async function endLeases(client: Client): Promise<void> {
  await client.query('UPDATE helix_sessions SET lease_until = 0')
}

/** Until a turn that was begun before has been claimed since, and put back. */
async function untilPutBack(client: Client, since: Date): Promise<void> {
  const found = "SELECT 1 FROM helix_queue.job WHERE state = 'retry' AND started_on > $1"
  await expect.poll(async () => (await client.query(found, [since])).rowCount).toBe(1)
}

async function now(client: Client): Promise<Date> {
  const { rows } = await client.query<{ readonly now: Date }>('SELECT now()')
  return rows[0]!.now
}

type AtEnd = TestContext['onTestFinished']

async function connect(url: string, atEnd: AtEnd): Promise<Client> {
  const client = new Client({ connectionString: url })
  await client.connect()
  atEnd(() => client.end())
  return client
}

async function turnsBegunIn(client: Client): Promise<number> {
  const { rowCount } = await client.query(
    "SELECT 1 FROM helix_queue.job WHERE state IN ('active', 'completed')",
  )
  return rowCount ?? 0
}

// They wait for the queue most of the time.
test.concurrent('a machine whose worker was killed and started again continues its session itself', async ({
  onTestFinished,
}) => {
  const front = await openFront(onTestFinished)
  const { url, executor, queue } = front
  const task = { url, leaseMs: 20_000, isLocal: true }
  const agent = createAgent(undefined, true)
  const handle = await executor.execute(agent, 'one', { ...enqueue, sessionId: 's' })
  const next = await executor.execute(agent, 'two', { ...enqueue, sessionId: 's' })
  await once(startWorker({ ...task, machine: 'm1', dies: true }, onTestFinished), 'exit')
  const [home] = await queue.homes(['s'])
  expect(home).toMatchObject({ machine: 'm1' })
  for (const machine of ['m2', 'm1']) startWorker({ ...task, machine, dies: false }, onTestFinished)
  await expect.poll(() => queue.workers()).toHaveLength(3)
  const client = await connect(url, onTestFinished)
  await endLeases(client)
  await missHeartbeats(client)
  expect(await handle.result()).toMatchObject({ status: 'completed' })
  expect(await next.result()).toMatchObject({ output: 'heard two' })
  // A run elsewhere would have taken it along.
  expect(await queue.homes(['s'])).toMatchObject([{ machine: 'm1', since: home?.since }])
  expect(await saidIn(front, 's')).toEqual(['one', 'heard one', 'two', 'heard two'])
}, 120_000)

test.concurrent.for(['before', 'after'])(
  'turns behind one whose worker was killed run once, in order, unless they are aborted (its lease is over %s the queue notices)',
  { timeout: 120_000 },
  async (order, { onTestFinished }) => {
    const front = await openFront(onTestFinished)
    const { url, executor } = front
    const client = await connect(url, onTestFinished)
    const agent = createAgent()
    const execute = (message: string) =>
      executor.execute(agent, message, { ...enqueue, sessionId: 's' })
    const first = await execute('one')
    const second = await execute('two')
    const third = await execute('three')
    const task = { url, leaseMs: 60_000 }
    const [, signal] = await once(startWorker({ ...task, dies: true }, onTestFinished), 'exit')
    expect(signal).toBe('SIGKILL')
    const killedAt = await now(client)
    const fourth = await execute('four')
    await third.abort()
    expect(await turnsBegunIn(client)).toBe(1)
    if (order === 'before') await endLeases(client)
    startWorker({ ...task, dies: false }, onTestFinished)
    await missHeartbeats(client)
    if (order === 'after') {
      await untilPutBack(client, killedAt)
      await endLeases(client)
    }
    expect(await third.result()).toMatchObject({ status: 'aborted' })
    expect(await fourth.result()).toMatchObject({ status: 'completed', output: 'heard four' })
    for (const turn of [first, second]) {
      expect(await turn.result()).toMatchObject({ status: 'completed' })
    }
    expect(await saidIn(front, 's')).toEqual(
      ['one', 'two', 'four'].flatMap((message) => [message, `heard ${message}`]),
    )
  },
)
