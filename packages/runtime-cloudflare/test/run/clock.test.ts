// Clocks of machines differ, and are put right: no run may wait for a time that does not come.
import { afterEach, describe, expect, test } from 'vitest'
import { clockError, createGate, say, type Script } from '../scripts.ts'
import { crash, createSession, untilAtRest } from '../session.ts'

const DAY_MS = 24 * 3_600_000

afterEach(() => {
  clockError.ms = 0
})

async function createRunning() {
  const gate = createGate()
  const parts = { isBroken: false }
  const brain: Script['brain'] = async (messages) => {
    await gate.pass()
    return say(`answer to ${messages.length}`)
  }
  const providers = () => {
    if (parts.isBroken) throw new Error('the deploy is broken')
    return []
  }
  const session = createSession({ brain, providers })
  await session.post('/start', { message: 'go' })
  await gate.begun
  return { session, gate, parts }
}

describe.each([
  ['a day on', DAY_MS],
  ['a day back', -DAY_MS],
])('a clock that is put %s', (_, ms) => {
  test('while a run is under way: it is still the only one, and ends', async () => {
    const { session, gate } = await createRunning()
    clockError.ms = ms
    for (const path of ['/message', '/resume', '/start']) {
      expect((await session.post(path, { message: 'me too' })).status).toBe(409)
    }
    gate.open()
    expect(await session.ended()).toBe('completed')
    expect(await session.messages()).toHaveLength(2)
    await untilAtRest(session)
  })

  test('while the object of a run ends: it goes on at once', async () => {
    const { session, gate } = await createRunning()
    clockError.ms = ms
    await crash()
    gate.open()
    expect(await session.ended()).toBe('completed')
    await untilAtRest(session)
  })

  test('while a run waits to be taken up: it does not wait for a day', async () => {
    const { session, gate, parts } = await createRunning()
    parts.isBroken = true
    await crash()
    expect((await session.get('/state')).body.status).toBe('running')
    clockError.ms = ms
    parts.isBroken = false
    gate.open()
    await crash()
    expect(await session.ended()).toBe('completed')
    await untilAtRest(session)
  })
})
