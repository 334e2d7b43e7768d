// What an instance of an object does with what the one before has left, what wakes it, and what a removal leaves.
import { StateStoreError } from '@helix-agents/core'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { describe, expect, test } from 'vitest'
import { say } from '../http/node-host.ts'
import { later } from '../node-object.ts'
import { createHost, gated, NOW, plain } from '../server/host-fixture.ts'

const MINUTE_MS = 60_000
const record = 'helix:run:s'

/** An object whose instance ended while the model was asked. */
async function cutOff() {
  const first = createHost({ steps: [gated().answer] })
  await first.host.ready()
  await first.host.executor.execute(plain, 'Go', { sessionId: 's' })
  first.state.alarm = null
  return first
}

describe('the next instance', () => {
  test('goes on with the run, and leaves no alarm when it has ended', async () => {
    const { of } = await cutOff()
    const { answer, open } = gated()
    const { host, state, values, statusOf, logger, events } = createHost({ of, steps: [answer] })
    await host.ready()
    expect([state.alarm, state.syncs]).toEqual([NOW + 30_000, 1])
    expect(values.get(record)).toMatchObject({ attempts: 1 })
    expect(events).toEqual(['started', 'started'])
    open()
    await host.watchdog.untilAtRest()
    expect([await statusOf(), state.alarm, values.size]).toEqual(['completed', null, 0])
    expect(logger.with('run resumed in a new instance')).toHaveLength(1)
  })

  test.each([
    [NOW, NOW],
    [NOW + 1, NOW + 1],
    [NOW + MINUTE_MS, NOW + 30_000],
  ])('that an alarm at %i may have made leaves it alone: %i', async (alarm, expected) => {
    const { of } = await cutOff()
    of.state.alarm = alarm
    const { host, state } = createHost({ of, steps: [gated().answer] })
    await host.ready()
    expect(state.alarm).toBe(expected)
  })

  test.each([
    [{}, 4, 'completed'],
    [{}, 5, 'failed'],
    [{ maxResumeAttempts: 1 }, 0, 'completed'],
    [{ maxResumeAttempts: 1 }, 1, 'failed'],
  ])('with %o after %i attempts ends with the session %s', async (options, attempts, status) => {
    const { of } = await cutOff()
    of.values.set(record, { sessionId: 's', attempts, progress: '0:1:0' })
    const { host, statusOf } = createHost({ of, options })
    await host.ready()
    await host.watchdog.untilAtRest()
    expect(await statusOf()).toBe(status)
  })

  test('begins no run while that of the one before cannot be ended', async () => {
    const { of, state } = await cutOff()
    const { host } = createHost({ of })
    state.fail = 'transaction'
    await host.ready()
    await expect(host.executor.execute(plain, 'Go', { sessionId: 'x' })).rejects.toMatchObject({
      code: 'unavailable',
    })
    await expect(host.releaseLeases()).rejects.toThrow(StateStoreError)
    expect(() => host.assertMayChange()).toThrow(StateStoreError)
    state.fail = undefined
    await host.ready()
    expect(() => host.assertMayChange()).not.toThrow()
    await host.watchdog.untilAtRest()
  })

  test('pauses a run that was cut off, or forgets it when the session has changed', async () => {
    const { of } = await cutOff()
    of.values.set(record, { sessionId: 's', attempts: 1, retryAt: NOW + MINUTE_MS })
    const { host, state, values, statusOf } = createHost({ of })
    await host.ready()
    expect([await statusOf(), state.alarm]).toEqual(['running', NOW + MINUTE_MS])
    await host.pauseCutOffRun()
    expect([await statusOf(), state.alarm, values.size]).toEqual(['interrupted', null, 0])
    values.set(record, { sessionId: 's', attempts: 1 })
    await host.pauseCutOffRun()
    expect(values.size).toBe(1)
    state.alarm = NOW + 1
    await host.forgetCutOffRun()
    expect([state.alarm, values.size]).toEqual([null, 0])
    state.alarm = NOW + 1
    await host.forgetCutOffRun()
    expect(state.alarm).toBe(NOW + 1)
  })

  test('does not forget a run of its own', async () => {
    const { answer, open } = gated()
    const { host, values } = createHost({ steps: [answer] })
    await host.ready()
    const handle = await host.executor.execute(plain, 'Go', { sessionId: 's' })
    await host.forgetCutOffRun()
    expect(values.has(record)).toBe(true)
    open()
    await handle.result()
    await host.watchdog.untilAtRest()
  })
})

describe('an alarm', () => {
  test('that cannot be set refuses the run', async () => {
    const { host, state, values } = createHost()
    await host.ready()
    state.fail = 'setAlarm'
    await expect(host.executor.execute(plain, 'Go', { sessionId: 's' })).rejects.toMatchObject({
      code: 'unavailable',
      sessionId: 's',
    })
    expect(values.size).toBe(0)
  })

  test('that cannot be set at the end of a run is set with the next request', async () => {
    const { host, state, values, run, logger } = createHost()
    await host.ready()
    values.set('helix:run:x', { sessionId: 'x', attempts: 1, retryAt: NOW + MINUTE_MS })
    const ended = run()
    await later()
    await later()
    state.fail = 'getAlarm'
    await ended
    expect(logger.with('alarm could not be set')).toEqual([
      expect.objectContaining({ level: 'error', fields: { err: expect.any(Error) } }),
    ])
    state.fail = undefined
    state.alarm = null
    await host.ready()
    expect(state.alarm).toBe(NOW + MINUTE_MS)
  })

  test('that could not be answered rings ever later, until it was', async () => {
    const { host, state, values, clock } = createHost()
    await host.ready()
    const delays: number[] = []
    for (let round = 0; round < 3; round++) {
      if (round === 2) host.noteRung()
      await host.ringLater()
      delays.push((state.alarm ?? 0) - clock.now())
    }
    expect(delays).toEqual([MINUTE_MS, 4 * MINUTE_MS, MINUTE_MS])
    expect([...values.keys()]).toEqual(['helix:alarm:object'])
    state.fail = 'setAlarm'
    await expect(host.ringLater()).rejects.toThrow('setAlarm')
  })

  test('that could not be answered lets the next request take over', async () => {
    const { of } = await cutOff()
    of.values.set(record, { sessionId: 's', attempts: 1, retryAt: NOW + MINUTE_MS })
    const { answer, open } = gated()
    const { host, clock, statusOf } = createHost({ of, steps: [answer] })
    await host.ready()
    await clock.advance(MINUTE_MS)
    await host.ready()
    expect(host.watchdog.running()).toEqual([])
    await host.ringLater()
    await host.ready()
    expect(host.watchdog.running()).toEqual(['s'])
    open()
    await host.watchdog.untilAtRest()
    expect(await statusOf()).toBe('completed')
  })

  test('goes on with runs, and asks providers what is due', async () => {
    const { of } = await cutOff()
    of.values.set(record, { sessionId: 's', attempts: 1, retryAt: NOW + MINUTE_MS })
    const collected: number[] = []
    const collecting = Object.assign(new InMemoryWorkspaceProvider(), {
      nextCollectionAt: () => NOW + 2 * MINUTE_MS,
      collect: (now: number) => void collected.push(now),
    })
    const workspaceProviders = () => [collecting]
    const { host, clock, statusOf, state } = createHost({ of, options: { workspaceProviders } })
    await host.ready()
    await clock.advance(MINUTE_MS)
    await host.ring()
    await host.watchdog.untilAtRest()
    // One that rings too early only looks again.
    const early = NOW + MINUTE_MS + 30_000
    expect([await statusOf(), collected, state.alarm]).toEqual(['completed', [], early])
    await clock.advance(30_000)
    await host.ring()
    expect([collected, state.alarm]).toEqual([[], NOW + 2 * MINUTE_MS])
    await clock.advance(30_000)
    await host.ring()
    expect(collected).toEqual([NOW + 2 * MINUTE_MS])
    expect(host.collections).toHaveLength(1)
  })
})

describe('a removal', () => {
  test('ends what is stored, and its object begins anew', async () => {
    const { host, state, values, events, run } = createHost({ steps: [say('one')] })
    await host.ready()
    await run()
    values.set('own', 1)
    state.alarm = NOW + 1
    const [{ executor }, seen] = [host, [] as unknown[]]
    await host.erase(async () => {
      await later()
      seen.push(values.size, await host.isEmpty())
      await expect(host.erase(async () => {})).rejects.toMatchObject({
        status: 409,
        code: 'being-deleted',
        message: 'the session is being deleted',
      })
      expect(() => host.assertMayChange()).toThrow('being deleted')
    })
    expect(seen).toEqual([1, false])
    expect([values.size, state.alarm, host.erasures]).toEqual([0, null, 1])
    expect(await host.isEmpty()).toBe(true)
    expect(events.at(-1)).toBe('erased')
    expect(host.executor).not.toBe(executor)
    expect(() => host.assertNotErasing()).not.toThrow()
    expect(await run()).toMatchObject({ status: 'completed', output: 'one' })
  })

  test('ends those who read', async () => {
    const { host } = createHost()
    await host.ready()
    await host.stateStore.createSession({
      sessionId: 's',
      agentType: 'a',
      customState: undefined,
      now: NOW,
    })
    await host.streamManager.startRun('s', 'r', 'a')
    const chunks = await host.streamManager.read('s')
    const read = (async () => {
      for await (const chunk of chunks ?? []) throw new Error(`a chunk: ${chunk.type}`)
    })()
    await host.erase(async () => {})
    await expect(read).resolves.toBeUndefined()
  })

  test('forgets what has failed, also what could not be stored', async () => {
    const { host, state } = createHost()
    await host.ready()
    state.fail = 'put'
    await host.ringLater()
    await host.ringLater()
    expect(state.alarm).toBe(NOW + 4 * MINUTE_MS)
    state.fail = undefined
    await host.erase(async () => {})
    await host.ringLater()
    expect(state.alarm).toBe(NOW + MINUTE_MS)
  })

  test('that is not prepared removes nothing, and may be tried again', async () => {
    const { host, events, run, statusOf } = createHost()
    await host.ready()
    await run()
    const err = new Error('mine')
    await expect(host.erase(() => Promise.reject(err))).rejects.toBe(err)
    expect([await statusOf(), host.erasures]).toEqual(['completed', 0])
    expect(events).not.toContain('erased')
    expect(() => host.assertNotErasing()).not.toThrow()
  })
})
