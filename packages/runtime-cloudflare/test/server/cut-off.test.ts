// A run that was cut off and waits to be taken up: its session says that it runs, and nobody does.
import { expect, test } from 'vitest'
import { createGate, say } from '../scripts.ts'
import { crash, createSession, inObject, storedIn, type TestSession } from '../session.ts'

/** Left in the middle of its first answer, and not to be taken up for some minutes. */
async function createCutOff(): Promise<TestSession> {
  const gate = createGate()
  let calls = 0
  const session = createSession({
    brain: async (messages) => {
      if (calls++ === 0) await gate.pass()
      return say(`answer to ${messages.length}`)
    },
  })
  await session.post('/start', { message: 'go' })
  await gate.begun
  await inObject(session, ({ storage }) => {
    const key = `helix:run:${session.id}`
    const note = storage.kv.get<object>(key)
    storage.kv.put(key, { ...note, attempts: 1, retryAt: Date.now() + 240_000 })
  })
  await crash()
  gate.open()
  expect((await session.get('/state')).body.status).toBe('running')
  return session
}

const atRest = { keys: ['__ps_name'], alarm: null }

test.each([
  ['interrupt', undefined, 'interrupted'],
  ['abort', undefined, 'aborted'],
] as const)('%s ends the wait', async (request, body, status) => {
  const session = await createCutOff()
  expect((await session.post(`/${request}`, body)).status).toBe(202)
  expect((await session.get('/state')).body.status).toBe(status)
  await crash()
  expect((await session.get('/state')).body.status).toBe(status)
  expect(await storedIn(session)).toMatchObject(atRest)
  const text = await (await session.fetch('/stream')).text()
  expect(text.endsWith('event: end\ndata: {}\n\n')).toBe(true)
})

test('after an interrupt it is resumed', async () => {
  const session = await createCutOff()
  await session.post('/interrupt')
  expect((await session.post('/resume')).status).toBe(202)
  expect(await session.ended()).toBe('completed')
  expect((await session.get('/state')).body.output).toBe('answer to 1')
})

test.each([
  ['resume', {}, 'answer to 1'],
  ['message', { message: 'more' }, 'answer to 2'],
] as const)('%s takes it up', async (request, body, output) => {
  const session = await createCutOff()
  expect((await session.post(`/${request}`, body)).status).toBe(202)
  expect(await session.ended()).toBe('completed')
  expect((await session.get('/state')).body.output).toBe(output)
})
