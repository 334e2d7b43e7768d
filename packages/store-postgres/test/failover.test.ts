// The server goes away, comes back, is read-only, and connections are cut: what was stored is there
// once, and a call waits or fails as `unavailable`.
import type { SequencedChunk } from '@helix-agents/core/runtime'
import { startTestPostgres } from '@helix-agents/postgres-testbed'
import { Client } from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { CuttingProxy } from './cutting-proxy.ts'
import { afterLastCheckpoint, emptyPlace, opened, query } from './opened.ts'
import { begun, NOW, step, textsOf } from './script.ts'

const names = (count: number): string[] => Array.from({ length: count }, (_, n) => `${n}`)

test.each(['before', 'during', 'after'] as const)(
  'a connection that is cut %s its commit stores the step once',
  async (cut) => {
    const place = await emptyPlace()
    const proxy = await CuttingProxy.open(place)
    const { stateStore } = await opened(proxy.url)
    const write = await begun(stateStore, 's')
    await afterLastCheckpoint(place)
    for (const name of names(10)) {
      if (Number(name) % 3 === 0) proxy.nextCut = cut
      await stateStore.commitStep(step(write, name))
    }
    expect(proxy.cuts).toBe(4)
    expect(await textsOf(stateStore, 's')).toEqual(names(10))
    expect(await stateStore.loadSession('s')).toMatchObject({ stepCount: 10, version: 12 })
  },
)

test('steps, messages and streams survive connections that are cut again and again', async () => {
  const place = await emptyPlace()
  const proxy = await CuttingProxy.open(place)
  const { stateStore, streamManager } = await opened(proxy.url)
  await afterLastCheckpoint(place)
  const writer = await streamManager.startRun('stream', 'run', 'agent')
  const sessions = ['a', 'b', 'c']
  const runs = sessions.map(async (sessionId, index) => {
    const write = await begun(stateStore, sessionId)
    for (const name of names(15)) {
      if (Number(name) % 5 === index) proxy.cutAll()
      const delta = `${sessionId}${name}`
      const chunk = {
        type: 'text_delta',
        delta,
        agentId: 'run',
        agentType: 'agent',
        timestamp: NOW,
      }
      await Promise.all([stateStore.commitStep(step(write, name)), writer.write(chunk as never)])
    }
  })
  await Promise.all(runs)
  await streamManager.endRun('stream', 'run')
  for (const sessionId of sessions) {
    expect(await textsOf(stateStore, sessionId)).toEqual(names(15))
  }
  const chunks: SequencedChunk[] = []
  for await (const chunk of (await streamManager.read('stream')) ?? []) chunks.push(chunk)
  expect(chunks.map((chunk) => chunk.sequence)).toEqual(names(45).map((name) => Number(name) + 1))
  const deltas = chunks.map((chunk) => (chunk.type === 'text_delta' ? chunk.delta : ''))
  const written = sessions.flatMap((sessionId) => names(15).map((name) => `${sessionId}${name}`))
  expect(deltas.toSorted()).toEqual(written.toSorted())
})

test('a server that crashes and restarts is waited for', async () => {
  const server = await startTestPostgres()
  onTestFinished(() => server.remove())
  const url = server.url()
  const { stateStore } = await opened(url, { reconnectTimeoutMs: 60_000 })
  const write = await begun(stateStore, 's')
  await afterLastCheckpoint(url)
  let restarted: Promise<void> | undefined
  for (const name of names(30)) {
    if (name === '10') restarted = server.restart('immediate')
    await stateStore.commitStep(step(write, name))
  }
  await restarted
  expect(await textsOf(stateStore, 's')).toEqual(names(30))

  await server.stop()
  const impatient = await opened(url, { reconnectTimeoutMs: 100 }).catch((error) => error)
  expect(impatient).toMatchObject({ code: 'unavailable', transient: true })
  await server.start()
  expect(await stateStore.loadSession('s')).toMatchObject({ stepCount: 30 })
})

test('a server that is read-only is waited for, and named when it stays so', async () => {
  const url = await emptyPlace()
  const { stateStore } = await opened(url)
  const write = await begun(stateStore, 's')
  const readOnly = new URL(url)
  const options = `${readOnly.searchParams.get('options')} -c default_transaction_read_only=on`
  readOnly.searchParams.set('options', options)
  const standby = await opened(readOnly.href.replaceAll('+', '%20'), { reconnectTimeoutMs: 50 })
  expect(await standby.stateStore.loadSession('s')).toMatchObject({ sessionId: 's' })
  await expect(standby.stateStore.commitStep(step(write, '1'))).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('the database can only be read'),
  })
  expect(await textsOf(stateStore, 's')).toEqual([])
})

test('a reader goes on when the connection that listens was cut', async () => {
  const place = await emptyPlace()
  const proxy = await CuttingProxy.open(place)
  const readers = await opened(proxy.url, { pollMs: 100 })
  const { streamManager } = await opened(place)
  const writer = await streamManager.startRun('stream', 'run', 'agent')
  const chunk = { type: 'text_delta', agentId: 'run', agentType: 'agent', timestamp: NOW }
  const reader = (await readers.streamManager.read('stream'))?.[Symbol.asyncIterator]()
  const waiting = reader?.next()
  proxy.cutAll()
  await writer.write({ ...chunk, delta: 'a' } as never)
  expect((await waiting)?.value).toMatchObject({ delta: 'a', sequence: 1 })
  const next = reader?.next()
  await writer.write({ ...chunk, delta: 'b' } as never)
  expect((await next)?.value).toMatchObject({ delta: 'b', sequence: 2 })
})

test('a statement that takes too long fails alone', async () => {
  const url = await emptyPlace()
  const { stateStore } = await opened(url)
  const impatient = await opened(url, { statementTimeoutMs: 1000 })
  const write = await begun(stateStore, 's')
  const other = new Client({ connectionString: url })
  await other.connect()
  onTestFinished(() => other.end())
  await other.query("BEGIN; SELECT 1 FROM helix_sessions WHERE session_id = 's' FOR UPDATE")
  await expect(impatient.stateStore.commitStep(step(write, '1'))).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('took too long'),
  })
  await other.query('ROLLBACK')
  await stateStore.commitStep(step(write, '2'))
  expect(await textsOf(stateStore, 's')).toEqual(['2'])
})

test('a step takes two round trips, three for the result of a call', async () => {
  const proxy = await CuttingProxy.open(await emptyPlace())
  const { stateStore } = await opened(proxy.url, { listen: false })
  const write = await begun(stateStore, 's')
  const turnsOf = async (call: () => Promise<unknown>): Promise<number> => {
    const before = proxy.turns
    await call()
    return proxy.turns - before
  }
  const entry = { toolCallId: 'c', toolName: 't', arguments: {}, startedAt: NOW }
  const message = { role: 'tool', toolCallId: 'c', toolName: 't', content: '' } as const
  const result = { message, endedAt: NOW }
  const begin = { ...write, messages: [{ role: 'user', content: '1' }], journal: [entry] } as const
  expect(await turnsOf(() => stateStore.beginStep(begin))).toBe(2)
  expect(
    await turnsOf(() => stateStore.completeToolCall({ ...write, toolCallId: 'c', result })),
  ).toBe(3)
  expect(await turnsOf(() => stateStore.commitStep(step(write, '1')))).toBe(2)
  expect(await turnsOf(() => stateStore.renewRun({ ...write, leaseMs: 1 }))).toBe(3)
  for (const name of names(20)) {
    await stateStore.createSession({ sessionId: name, agentType: 'a', customState: 1, now: NOW })
  }
  expect(await turnsOf(() => stateStore.listSessions())).toBe(3)
})

test('writers of several connections do not lose or double each other', async () => {
  const url = await emptyPlace()
  const stores = await Promise.all(names(4).map(() => opened(url)))
  const [first] = stores
  const write = await begun(first!.stateStore, 's')
  const turns = names(40).map(async (name) =>
    stores[Number(name) % 4]!.stateStore.commitStep(step(write, name)),
  )
  await Promise.all(turns)
  expect(new Set(await textsOf(first!.stateStore, 's'))).toEqual(new Set(names(40)))
  expect(await textsOf(first!.stateStore, 's')).toHaveLength(40)
  const [row] = await query(url, 'SELECT count(*)::int AS rows FROM helix_checkpoints')
  expect(row).toEqual({ rows: 40 })
})
