// Who reads server-sent events holds memory of the object: not too many, and none of it for long.
import { DOStreamManager } from '@helix-agents/store-cloudflare'
import { afterEach, expect, test, vi } from 'vitest'
import { createGate, say } from '../scripts.ts'
import { answerOf, createSession, type TestSession } from '../session.ts'

afterEach(() => vi.restoreAllMocks())

const MAX_READERS = 100

async function createRunning() {
  const gate = createGate()
  const session = createSession({ brain: () => gate.pass().then(() => say('late')) })
  await session.post('/start', { message: 'go' })
  await gate.begun
  return { session, gate }
}

/** A reader that has seen the first bytes. */
async function join(session: TestSession): Promise<ReadableStreamDefaultReader<Uint8Array>> {
  const response = await session.fetch('/stream')
  expect(response.status).toBe(200)
  const reader = response.body!.getReader()
  await reader.read()
  return reader
}

const refusal = {
  status: 429,
  body: { error: { code: 'too-many-readers', message: expect.any(String) } },
}

test('a stream has so many readers and no more, until one has left', async () => {
  const { session, gate } = await createRunning()
  const readers = await Promise.all(Array.from({ length: MAX_READERS }, () => join(session)))
  const refused = await answerOf(session.fetch('/stream'))
  expect(refused).toMatchObject(refusal)
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  // Everything else is answered.
  expect((await session.get('/state')).status).toBe(200)
  await readers.pop()!.cancel()
  const late = await vi.waitFor(() => join(session), { timeout: 60_000 })
  gate.open()
  expect(await session.ended()).toBe('completed')
  for (const reader of [...readers, late]) while (!(await reader.read()).done);
  // Those who have seen the end have left as well.
  await Promise.all(Array.from({ length: MAX_READERS }, () => join(session)))
}, 120_000)

test('a reader that leaves before it has read anything leaves its place', async () => {
  const { session, gate } = await createRunning()
  for (let round = 0; round < 3; round++) {
    const responses = await Promise.all(
      Array.from({ length: MAX_READERS }, () => session.fetch('/stream')),
    )
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]))
    expect(await answerOf(session.fetch('/stream'))).toMatchObject(refusal)
    await Promise.all(responses.map(({ body }) => body!.cancel()))
    await vi.waitFor(
      async () => {
        const response = await session.fetch('/stream')
        await response.body!.cancel()
        expect(response.status).toBe(200)
      },
      { timeout: 60_000 },
    )
  }
  gate.open()
  await session.ended()
}, 120_000)

test('a reader that does not read is not read for', async () => {
  const pieces = 400
  const session = createSession({
    brain: (_, { callbacks }) => {
      for (let piece = 0; piece < pieces; piece++) callbacks.onTextDelta?.('x'.repeat(16 * 1024))
      return say('done')
    },
  })
  await session.post('/start', { message: 'go' })
  await session.ended()
  let taken = 0
  // oxlint-disable-next-line typescript/unbound-method -- it is called with its manager
  const read = DOStreamManager.prototype.read
  vi.spyOn(DOStreamManager.prototype, 'read').mockImplementation(async function* (
    this: DOStreamManager,
    ...request: Parameters<typeof read>
  ) {
    for await (const chunk of (await read.call(this, ...request)) ?? []) {
      taken++
      yield chunk
    }
  } as unknown as typeof read)
  const reader = await join(session)
  for (let look = 0; look < 20; look++) await session.get('/state')
  expect(taken).toBeLessThan(pieces / 4)
  while (!(await reader.read()).done);
  expect(taken).toBeGreaterThanOrEqual(pieces)
})
