// Any schedule of answers, edits, expiry, messages, stops, restarts and deaths of processes leaves a
// session in which nothing was lost, nothing ran twice, and nothing ran that was not approved.
import { TestSampler } from '@helix-agents/core/testing'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { DEATHS } from '../../crash/failing-store.ts'
import { TOOLS } from './agents.ts'
import { problemsOf } from './invariants.ts'
import { type Action, World } from './world.ts'

const sampler = new TestSampler()

const step = fc.array(fc.constantFrom(...TOOLS), { minLength: 1, maxLength: 4 })
const plan = fc.record({
  root: fc.array(step, { minLength: 1, maxLength: 3 }),
  middle: fc.array(step, { maxLength: 2 }),
  leaf: fc.array(step, { maxLength: 2 }),
})
const start = fc.record({
  isLater: fc.boolean(),
  at: fc.oneof(fc.constant(Infinity), fc.integer({ min: 1, max: 60 })),
  death: fc.constantFrom(...DEATHS),
})
const action: fc.Arbitrary<Action> = fc.oneof(
  fc.record({
    type: fc.constant('answer' as const),
    which: fc.nat(5),
    how: fc.constantFrom('approve', 'deny', 'edit', 'remember'),
  }),
  fc.record({
    type: fc.constant('send' as const),
    delivery: fc.constantFrom('steer', 'followUp'),
    isRepeated: fc.boolean(),
  }),
  fc.record({ type: fc.constant('wait' as const), ms: fc.constantFrom(100, 500, 3000, 6000) }),
  fc.constant<Action>({ type: 'interrupt' }),
  start.map((given) => ({ type: 'restart' as const, ...given })),
)

test('what a later release asks about is asked about by an earlier one too', async () => {
  const world = new World(
    { root: [['middle', 'pay']], middle: [['charge']], leaf: [] },
    { isLater: true, at: 16, death: 'before-it-arrives' },
  )
  await world.play([{ type: 'restart', isLater: false, at: 19, death: 'before-it-arrives' }])
  expect(await problemsOf(world)).toEqual([])
})

test('every schedule ends well', async () => {
  const schedule = fc.tuple(plan, start, fc.array(action, { maxLength: 8 }))
  await fc.assert(
    fc.asyncProperty(schedule, async ([given, first, actions]) => {
      const world = new World(given, first)
      await world.play(actions)
      expect(await problemsOf(world)).toEqual([])
    }),
    { numRuns: sampler.size(10_000, 60), seed: sampler.seedOf('people in the loop') },
  )
}, 1_800_000)
