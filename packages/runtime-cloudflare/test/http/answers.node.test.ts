// What the object of a session answers over HTTP, with whole bodies.
import { expect, test } from 'vitest'
import { asks, bodyOf, codeOf, links, objectWith, played, question, say } from './node-host.ts'

test('a turn is accepted, with where to look', async () => {
  const { send, settled, stateStore } = objectWith([say('one'), say('two')])
  const started = await send('POST', '/start', { message: 'Go' })
  const runId = (await stateStore.loadSession('s'))?.runId
  expect([started.status, started.headers.get('location')]).toEqual([202, links.self])
  expect(await started.json()).toEqual({ sessionId: 's', runId, links })
  await settled()
  for (const path of ['/message', '/messages']) {
    const sent = await send('POST', path, { message: 'more' })
    expect([sent.status, sent.headers.get('location')]).toEqual([202, links.self])
    await settled()
  }
})

test('an unknown session has nothing to read, and starts with a turn only', async () => {
  const { send } = objectWith([])
  for (const path of [
    '/',
    '/state',
    '/messages',
    '/checkpoints',
    '/diff?from=c',
    '/files?checkpointId=c',
    '/requests',
    '/requests/r',
    '/stream',
  ]) {
    expect([path, ...(await codeOf(send('GET', path)))]).toEqual([path, 404, 'not-found'])
  }
  for (const [path, body] of [
    ['/message', { message: 'x' }],
    ['/resume', {}],
    ['/interrupt', {}],
    ['/abort', {}],
    ['/restore', { checkpointId: 'c' }],
    ['/branch', {}],
    ['/requests/r', { decision: 'deny' }],
  ] as const) {
    expect([path, ...(await codeOf(send('POST', path, body)))]).toEqual([path, 404, 'not-found'])
  }
  expect(await bodyOf(send('GET', '/healthz'))).toEqual({ error: 'no active session' })
  expect((await send('GET', '/healthz')).status).toBe(404)
})

test('its state, messages and checkpoints are read in pages', async () => {
  const { send, ids } = await played()
  for (const path of ['/', '/state']) {
    expect(await bodyOf(send('GET', path))).toMatchObject({
      sessionId: 's',
      agent: 'a',
      status: 'completed',
      output: 'done',
      messageCount: 6,
      workspaces: [{ name: 'box', provider: 'in-memory' }],
      links,
    })
  }
  const contents = async (query: string) =>
    (await bodyOf<{ messages: { role: string }[] }>(send('GET', `/messages${query}`))).messages.map(
      ({ role }) => role,
    )
  expect(await contents('')).toEqual([
    'user',
    'assistant',
    'tool',
    'assistant',
    'tool',
    'assistant',
  ])
  expect(await contents('?offset=1&limit=2')).toEqual(['assistant', 'tool'])
  expect(await bodyOf(send('GET', '/messages?limit=1'))).toMatchObject({ total: 6 })
  const first = await bodyOf<{ items: { id: string }[]; nextCursor: string }>(
    send('GET', '/checkpoints?limit=2'),
  )
  expect(first.items.map(({ id }) => id)).toEqual([ids[2], ids[1]])
  expect(Object.keys(first.items[0] ?? {}).toSorted()).toEqual([
    'createdAt',
    'id',
    'messageCount',
    'status',
    'stepCount',
  ])
  const next = await bodyOf(send('GET', `/checkpoints?cursor=${first.nextCursor}`))
  expect(next).toMatchObject({ items: [{ id: ids[0] }] })
  expect(await codeOf(send('GET', '/messages?limit=0'))).toEqual([400, 'invalid-request'])
})

test('the files of two points are compared', async () => {
  const { send, ids } = await played()
  const [from, to] = ids
  const between = await bodyOf(send('GET', `/diff?from=${from}&to=${to}`))
  expect(between).toMatchObject({ workspaces: [{ workspace: 'box', total: 1 }] })
  const now = await bodyOf(send('GET', `/diff?from=${to}`))
  expect(now).toMatchObject({ workspaces: [{ workspace: 'box', total: 0 }] })
  for (const query of [`from=${from}&to=none`, `from=none&to=${to}`, 'from=none']) {
    expect(await codeOf(send('GET', `/diff?${query}`))).toEqual([404, 'not-found'])
  }
})

test('the files of a checkpoint are an archive; its place is given back when it is sent', async () => {
  const { send, ids, host, waits, logger } = await played()
  const response = await send('GET', `/files?checkpointId=${ids[0]}`)
  expect(response.status).toBe(200)
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'content-type': 'application/x-tar',
    'content-disposition': 'attachment; filename="files.tar"',
    'x-content-type-options': 'nosniff',
    etag: expect.stringMatching(/^"[^"]+"$/),
  })
  expect(waits).toHaveLength(1)
  const tar = new TextDecoder().decode(await response.arrayBuffer())
  expect(tar).toContain('one\n')
  expect(tar.length % 512).toBe(0)
  await Promise.all(waits)
  expect(logger.lines).toEqual([])
  // All of one caller without a name: half a hundred and more are there again.
  for (let place = 0; place < 100; place++) host.places.streams.take({})
  expect(await codeOf(send('GET', `/files?checkpointId=${ids[0]}`))).toEqual([
    429,
    'too-many-readers',
  ])
  expect(await codeOf(send('GET', '/files?checkpointId=none'))).toEqual([404, 'not-found'])
})

test('a client that leaves an archive is told to the operator, and its place is free', async () => {
  const { send, ids, waits, logger, host } = await played()
  const response = await send('GET', `/files?checkpointId=${ids[0]}`)
  await response.body?.cancel('gone')
  await Promise.all(waits)
  expect(logger.lines).toEqual([
    {
      level: 'warn',
      message: 'files of a checkpoint were not sent whole',
      fields: { err: 'gone', sessionId: 's' },
    },
  ])
  const places = Array.from({ length: 100 }, () => host.places.streams.take({}))
  expect(places).toHaveLength(100)
})

test('requests come in pages', async () => {
  const steps = [question('one', 'two'), say('done')]
  const { send, settled } = objectWith(steps, { agent: asks })
  await send('POST', '/start', { message: 'Go' })
  await settled()
  const page = (query: string) =>
    bodyOf<{ items: { toolCallId: string }[]; nextCursor?: string }>(
      send('GET', `/requests${query}`),
    )
  const first = await page('?limit=1')
  const second = await page(`?limit=1&cursor=${first.nextCursor ?? 'none'}`)
  const ids = [first, second].flatMap(({ items }) => items.map(({ toolCallId }) => toolCallId))
  expect(ids.toSorted()).toEqual(['one', 'two'])
})

test('questions are listed, shown and answered', async () => {
  const object = objectWith([question('one'), say('done')], { agent: asks })
  const { send, settled, stateStore } = object
  await send('POST', '/start', { message: 'Go' })
  await settled()
  const { items } = await bodyOf<{ items: { requestId: string; preview: object }[] }>(
    send('GET', '/requests?state=open'),
  )
  const { requestId } = items[0]!
  expect(items).toEqual([
    expect.objectContaining({ kind: 'question', toolCallId: 'one', arguments: expect.any(String) }),
  ])
  expect(items[0]).not.toHaveProperty('subject')
  expect(await bodyOf(send('GET', '/requests?state=resolved&limit=1'))).toMatchObject({ items: [] })
  expect(await bodyOf(send('GET', `/requests/${requestId}`))).toEqual(items[0])
  expect(await codeOf(send('GET', '/requests/none'))).toEqual([404, 'not-found'])
  expect(await codeOf(send('POST', `/requests/${requestId}`, { output: 7 }))).toEqual([
    400,
    'invalid-answer',
  ])
  const caller = { userId: 'ada' }
  const answered = await send('POST', `/requests/${requestId}`, { output: 'red' }, { caller })
  expect([answered.status, answered.headers.get('location')]).toEqual([202, links.self])
  const runId = (await stateStore.loadSession('s'))?.runId
  expect(await answered.json()).toMatchObject({
    sessionId: 's',
    runId,
    request: { requestId, resolution: { decision: 'output', output: 'red', by: 'ada' } },
    links,
  })
  expect(await settled()).toMatchObject({ status: 'completed' })
})

test('a message for a session that waits is queued when it says how', async () => {
  const { send, settled } = objectWith([question('one')], { agent: asks })
  await send('POST', '/start', { message: 'Go' })
  await settled()
  const body = { message: 'psst', delivery: 'steer', messageId: 'm' }
  const queued = await send('POST', '/message', body)
  expect([queued.status, queued.headers.get('location')]).toEqual([202, links.self])
  expect(await queued.json()).toEqual({ sessionId: 's', messageId: 'm', links })
})

test('a session goes back to a checkpoint', async () => {
  const { send, ids, stateStore } = await played()
  const restored = await send('POST', '/restore', { checkpointId: ids[0], files: true })
  expect(restored.status).toBe(202)
  expect(await stateStore.loadSession('s')).toMatchObject({ stepCount: 1, messageCount: 3 })
  expect(await codeOf(send('POST', '/restore', { checkpointId: 'none' }))).toEqual([
    404,
    'not-found',
  ])
})

test('a branch begins with what its source was at a point, and says which files it had', async () => {
  const { send, ids } = await played()
  const header = 'x-helix-branch-files'
  const now = await send('POST', '/branch', {})
  expect([now.status, now.headers.get(header)]).toEqual([200, null])
  expect(await now.json()).toMatchObject({ agentType: 'a', messages: { length: 6 } })
  const then = await send('POST', '/branch', { checkpointId: ids[0] })
  expect(then.headers.get(header)).toBeNull()
  expect(await then.json()).toMatchObject({ messages: { length: 3 } })
  const filed = await send('POST', '/branch', { checkpointId: ids[1], files: 'checkpoint' })
  expect(JSON.parse(filed.headers.get(header)!)).toEqual({
    checkpointId: ids[1],
    workspaces: ['box'],
  })
  const newest = await send('POST', '/branch', { files: 'checkpoint' })
  expect(JSON.parse(newest.headers.get(header)!)).toMatchObject({ checkpointId: ids[2] })
  expect(await codeOf(send('POST', '/branch', { checkpointId: 'none' }))).toEqual([
    404,
    'not-found',
  ])
  const plain = objectWith([say('one')], { agent: asks })
  await plain.send('POST', '/start', { message: 'Go' })
  await plain.settled()
  expect(await codeOf(plain.send('POST', '/branch', { files: 'checkpoint' }))).toEqual([
    422,
    'branch-without-files',
  ])
})

test('readers who come back after the end are told that there is no more', async () => {
  const { send } = await played()
  const all = await send('GET', '/stream')
  expect(all.headers.get('content-type')).toContain('text/event-stream')
  const text = await all.text()
  const ids = [...text.matchAll(/^id: ?(.+)$/gm)].map(([, id = '']) => id)
  const back = (id: string) =>
    send('GET', '/stream', undefined, { headers: { 'last-event-id': id } })
  expect((await back(ids.at(-1)!)).status).toBe(204)
  const rest = await back(ids.at(-3)!)
  expect(rest.status).toBe(200)
  expect([...(await rest.text()).matchAll(/^id: ?(.+)$/gm)]).toHaveLength(2)
})

test('readers of one session have so many places', async () => {
  const { send, host } = await played()
  const leave = Array.from({ length: 100 }, () => host.places.streams.take({}))
  expect(await codeOf(send('GET', '/stream'))).toEqual([429, 'too-many-readers'])
  leave[0]?.()
  const response = await send('GET', '/stream')
  expect(await codeOf(send('GET', '/stream'))).toEqual([429, 'too-many-readers'])
  await response.text()
  expect((await send('GET', '/stream')).status).toBe(200)
})
