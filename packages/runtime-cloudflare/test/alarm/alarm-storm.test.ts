// A client that asks for much makes the object ring no more than its runs need, and not afterwards.
import { runDurableObjectAlarm } from 'cloudflare:test'
import { expect, test } from 'vitest'
import { createGate, say } from '../scripts.ts'
import { createSession, inObject, type TestSession, untilAtRest } from '../session.ts'

const alarmOf = (session: TestSession) => inObject(session, ({ storage }) => storage.getAlarm())

test('requests without a session set no alarm', async () => {
  const session = createSession()
  const paths = ['/message', '/resume', '/interrupt', '/abort', '/branch', '/nowhere']
  await Promise.all(paths.map((path) => session.post(path, { message: 'go' })))
  expect(await alarmOf(session)).toBeNull()
})

test('while a run is under way, requests in a storm leave the one alarm where it is', async () => {
  const gate = createGate()
  const session = createSession({ brain: () => gate.pass().then(() => say('late')) })
  await session.post('/start', { message: 'go' })
  await gate.begun
  const before = await alarmOf(session)
  expect(before).not.toBeNull()
  for (let round = 0; round < 5; round++) {
    await Promise.all(
      ['/message', '/resume', '/start'].map((path) => session.post(path, { message: 'more' })),
    )
  }
  expect(await alarmOf(session)).toBe(before)
  gate.open()
  await session.ended()
  await untilAtRest(session)
})

test('runs that begin and stop again and again leave no alarm, and none can be rung', async () => {
  const session = createSession({ brain: () => say('done') })
  await session.post('/start', { message: 'go' })
  for (let round = 0; round < 15; round++) {
    const paths = ['/message', '/interrupt', '/abort', '/resume']
    await Promise.all(paths.map((path) => session.post(path, {})))
    await session.post('/message', { message: 'more' })
    await session.post(round % 2 === 0 ? '/interrupt' : '/abort')
    await session.ended()
  }
  await untilAtRest(session)
  expect(await runDurableObjectAlarm(session.stub)).toBe(false)
})
