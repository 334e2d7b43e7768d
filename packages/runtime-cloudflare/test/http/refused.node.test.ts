// What the object of a session refuses over HTTP, and what it leaves to the application.
import { expect, test } from 'vitest'
import { codeOf, objectWith, played, say } from './node-host.ts'

test('what is no route, has no such method, or is for a WebSocket is refused', async () => {
  const { send } = await played()
  expect(await codeOf(send('GET', '/none'))).toEqual([404, 'not-found'])
  const wrong = await send('PUT', '/')
  expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'GET, DELETE'])
  const socket = await send('GET', '/socket')
  expect([socket.status, socket.headers.get('upgrade')]).toEqual([426, 'websocket'])
})

test('who may only read writes nothing', async () => {
  const { send } = await played()
  const reader = { caller: { isReadOnly: true } }
  expect((await send('GET', '/state', undefined, reader)).status).toBe(200)
  for (const [method, path] of [
    ['POST', '/message'],
    ['POST', '/abort'],
    ['DELETE', '/'],
    ['PUT', '/own'],
  ] as const) {
    const sent = send(method, path, method === 'POST' ? {} : undefined, reader)
    expect([method, ...(await codeOf(sent))]).toEqual([method, 403, 'read-only'])
  }
})

test('a removal says nothing of its body to whom it is refused, and removes nothing for a wrong one', async () => {
  const { send, stateStore } = await played()
  const reader = { caller: { isReadOnly: true } }
  expect(await codeOf(send('DELETE', '/', { force: true }, reader))).toEqual([403, 'read-only'])
  expect(await codeOf(send('DELETE', '/', { force: true }))).toEqual([400, 'invalid-request'])
  expect(await stateStore.loadSession('s')).toMatchObject({ status: 'completed' })
})

test('a path of the application is its own, and gets the session and who asks', async () => {
  const contexts: Record<string, unknown>[] = []
  const own = async (request: Request, context: Record<string, unknown>) => {
    contexts.push(context)
    return new Response(`${request.method} own`, { status: 201 })
  }
  const options = { endpoints: { '/own': own, '/state': own, '/': own } }
  const { send, host } = objectWith([], { options })
  const caller = { userId: 'ada' }
  const answered = await send('POST', '/own', {}, { caller })
  expect([answered.status, await answered.text()]).toEqual([201, 'POST own'])
  const { env, ctx, executor, stateStore, streamManager } = host
  const parts = { env, ctx, executor, stateStore, streamManager }
  expect(contexts).toEqual([{ ...parts, sessionId: 's', caller }])
  expect(await (await send('GET', '/state')).text()).toBe('GET own')
  expect(await (await send('DELETE', '/')).text()).toBe('DELETE own')
  expect(await codeOf(send('GET', '/constructor'))).toEqual([404, 'not-found'])
})

test('bodies are as large as the application allows', async () => {
  const { send } = objectWith([say('one')], { options: { maxBodyBytes: 40 } })
  expect(await codeOf(send('POST', '/start', { message: 'x'.repeat(40) }))).toEqual([
    413,
    'too-large',
  ])
  expect((await send('POST', '/start', { message: 'x' })).status).toBe(202)
})

test('what fails inside is told to the operator, with what was asked', async () => {
  const { send, stateStore, logger } = objectWith([])
  const err = new Error('secret')
  stateStore.loadSession = () => Promise.reject(err)
  const response = await send('GET', '/state?x=1')
  expect(response.status).toBe(500)
  expect(await response.json()).toEqual({
    error: { code: 'internal', message: 'the server failed; its log has the reason' },
  })
  const fields = { method: 'GET', path: '/state', err }
  expect(logger.lines).toEqual([{ level: 'error', message: 'request failed', fields }])
})
