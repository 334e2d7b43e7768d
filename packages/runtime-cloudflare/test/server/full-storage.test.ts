// An object holds 10 GB: nothing more is stored then, what is there is read, and can be removed.
import { afterEach, describe, expect, test } from 'vitest'
import { fillStorage } from '../broken-storage.ts'
import { createGate, say, type Script, use } from '../scripts.ts'
import { crash, createSession, storedIn, type TestSession, untilAtRest } from '../session.ts'

const nothing = { tables: [], keys: [], alarm: null }
const unavailable = { status: 503, body: { error: { code: 'unavailable' } } }
const ends: (() => void)[] = []

afterEach(() => {
  for (const end of ends.splice(0)) end()
})

async function fill(session: TestSession): Promise<() => void> {
  const makeRoom = await fillStorage(session)
  ends.push(makeRoom)
  return makeRoom
}

const write = use('workspace__box__write_file', { path: '/a', content: 'x' })

/** Fills the object in the middle of a run: while the model is asked for the n-th time. */
async function createFull(at: number, pieces = 0) {
  const gate = createGate()
  let calls = 0
  const brain: Script['brain'] = async (messages, { callbacks }) => {
    if (++calls === at) await gate.pass()
    for (let piece = 0; piece < pieces; piece++) callbacks.onTextDelta?.('word ')
    return messages.length === 1 ? write : say(`answer to ${messages.length}`)
  }
  const session = createSession({ brain })
  await session.post('/start', { message: 'go' })
  await gate.begun
  const makeRoom = await fill(session)
  gate.open()
  return { session, makeRoom }
}

async function assertReadable(session: TestSession): Promise<void> {
  for (const path of ['/state', '/messages', '/checkpoints']) {
    expect([path, (await session.get(path)).status]).toEqual([path, 200])
  }
}

const remove = async (session: TestSession): Promise<number> =>
  (await session.fetch('', { method: 'DELETE' })).status

test('a start is refused and leaves nothing; it works when there is room', async () => {
  const session = createSession({ brain: () => say('hello') })
  const makeRoom = await fill(session)
  expect(await session.post('/start', { message: 'go' })).toMatchObject(unavailable)
  makeRoom()
  expect(await storedIn(session)).toEqual(nothing)
  expect((await session.post('/start', { message: 'go' })).status).toBe(202)
  expect(await session.ended()).toBe('completed')
})

test('a next turn is refused, and changes nothing', async () => {
  const session = createSession({ brain: () => say('hello') })
  await session.post('/start', { message: 'go' })
  await session.ended()
  await untilAtRest(session)
  const before = await storedIn(session)
  const makeRoom = await fill(session)
  expect(await session.post('/message', { message: 'more' })).toMatchObject(unavailable)
  expect(await session.post('/resume', { message: 'more' })).toMatchObject(unavailable)
  await assertReadable(session)
  makeRoom()
  expect(await storedIn(session)).toEqual(before)
  expect(await session.messages()).toHaveLength(2)
})

describe.each([
  ['the first answer', 1, 0],
  ['the chunks of an answer', 1, 50],
  ['the last step', 2, 0],
  ['the chunks of the last step', 2, 50],
] as const)('full at %s', (_, at, pieces) => {
  test('the session is read, and deleted', async () => {
    const { session } = await createFull(at, pieces)
    await assertReadable(session)
    expect(await remove(session)).toBe(204)
    expect(await storedIn(session)).toEqual(nothing)
  })

  test('the run goes on when there is room', async () => {
    const { session, makeRoom } = await createFull(at, pieces)
    await assertReadable(session)
    await crash()
    await assertReadable(session)
    makeRoom()
    expect(await session.ended()).toBe('completed')
    expect(await session.messages()).toHaveLength(4)
    await untilAtRest(session)
  })
})

test.each(['interrupt', 'abort'])('%s says so', async (request) => {
  const { session } = await createFull(1)
  await crash()
  expect(await session.post(`/${request}`)).toMatchObject(unavailable)
})
