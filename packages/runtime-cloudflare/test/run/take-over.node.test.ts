// What a new instance takes over at once, and what with the next request.
import { StateStoreError } from '@helix-agents/core'
import { ManualClock, RecordingLogger } from '@helix-agents/core/testing'
import { expect, test } from 'vitest'
import { TakeOver } from '../../src/run/take-over.ts'
import { createSteps } from '../node-object.ts'

const err = new StateStoreError('unavailable', 's', 'the disk is full')

function setup() {
  const state = {
    records: ['one'],
    running: [] as string[],
    alarm: null as number | null,
    failing: undefined as string | undefined,
    left: 1,
  }
  const events: string[] = []
  const clock = new ManualClock(1000)
  const logger = new RecordingLogger()
  const take = createSteps((name) => void events.push(`${name} is too early`))
  const step = async (name: string): Promise<void> => {
    events.push(name)
    await take(name)
    if (state.failing === name) throw err
  }
  const takeOver = new TakeOver({
    records: { all: () => state.records } as never,
    watchdog: { running: () => state.running } as never,
    releaseLeases: () => step('release'),
    recover: async () => {
      await step('recover')
      state.records = state.records.slice(0, state.left)
    },
    getAlarm: async () => (await step('getAlarm'), state.alarm),
    updateAlarm: () => step('updateAlarm'),
    clock,
    logger,
  })
  return { state, events, clock, logger, takeOver }
}

test.each([
  [null, true],
  [1001, true],
  [1000, false],
  [999, false],
])('with an alarm at %s a new one is set for what is left: %s', async (alarm, isSet) => {
  const { state, events, takeOver } = setup()
  state.alarm = alarm
  await takeOver.begin()
  const begun = ['release', 'recover', 'getAlarm']
  expect(events).toEqual(isSet ? [...begun, 'updateAlarm'] : begun)
})

test('nothing is recovered when there is nothing, and no alarm is needed when nothing is left', async () => {
  const none = setup()
  none.state.records = []
  await none.takeOver.begin()
  expect(none.events).toEqual(['release'])
  const done = setup()
  done.state.left = 0
  await done.takeOver.begin()
  expect(done.events).toEqual(['release', 'recover'])
})

test.each(['release', 'recover', 'updateAlarm'])(
  'a %s that fails is done again with the next request',
  async (name) => {
    const { state, events, logger, takeOver } = setup()
    state.failing = name
    await takeOver.begin()
    expect(logger.lines).toEqual([
      { level: 'error', message: 'runs cannot be recovered yet', fields: { err } },
    ])
    events.length = 0
    await takeOver.again()
    expect(logger.lines).toHaveLength(2)
    state.failing = undefined
    events.length = 0
    // An alarm is set whatever there is.
    await Promise.all([takeOver.again(), takeOver.again()])
    expect(events).toEqual(['release', 'recover', 'updateAlarm'])
    await takeOver.again()
    expect(events).toHaveLength(3)
  },
)

test('what is pending is done with the next request, once', async () => {
  const { events, takeOver } = setup()
  await takeOver.again()
  expect(events).toEqual([])
  takeOver.markPending()
  await takeOver.again()
  await takeOver.again()
  expect(events).toEqual(['release', 'recover', 'updateAlarm'])
})

test('as long as leases of dead runs could not be ended, that is said; not while a run is alive', async () => {
  const { state, events, takeOver } = setup()
  takeOver.assertReleased()
  state.failing = 'release'
  await expect(takeOver.release()).rejects.toBe(err)
  expect(() => takeOver.assertReleased()).toThrow(err)
  state.failing = undefined
  await takeOver.release()
  takeOver.assertReleased()
  state.running = ['s']
  events.length = 0
  await takeOver.release()
  expect(events).toEqual([])
})
