// A process may die at any operation on its stores. Whatever the moment, the next process ends the
// session as if nothing had happened, or says what it cannot know.
import { TestSampler } from '@helix-agents/core/testing'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Aftermath, playThrough } from './crash-world.ts'
import { examine } from './examine.ts'
import { DEATHS, type Death, DoomedProcess } from './failing-store.ts'

const sampler = new TestSampler()
const FINE = { status: 'completed', problems: [] }

/** How many operations the whole session takes. */
async function countOperations(): Promise<readonly string[]> {
  const immortal = new DoomedProcess(Infinity)
  const after = await playThrough([immortal])
  expect(examine(after)).toEqual(FINE)
  expect(after.runs).toBe(1)
  return immortal.operations
}

test('the scenario has what a crash can tear apart', async () => {
  const operations = await countOperations()
  const names = new Set(operations)
  for (const name of [
    'createSession',
    'beginRun',
    'appendMessages',
    'beginStep',
    'completeToolCall',
    'commitStep',
    'saveWorkspaceRef',
    'endRun',
    'endRun of the stream',
    'write tool_end',
    'write tool_start',
  ]) {
    expect(names).toContain(name)
  }
})

describe.each(DEATHS)('a process that dies at an operation, %s', (death) => {
  test('leaves a session that ends well, whichever operation it is', async () => {
    const { length } = await countOperations()
    const places = Array.from({ length }, (_, index) => index + 1)
    for (const at of sampler.pick(death, places, 25)) {
      const doomed = new DoomedProcess(at, death)
      const after = await playThrough([doomed])
      expect({ at, last: doomed.operations.at(-1), ...examine(after) }).toMatchObject(FINE)
    }
  })
})

test('every way to go on is taken at some moment', async () => {
  const { length } = await countOperations()
  const told = new Set<string>()
  for (let at = 1; at <= length; at++) {
    const after = await playThrough([new DoomedProcess(at, 'after-it-arrived')])
    for (const way of waysOf(after)) told.add(way)
  }
  expect([...told].toSorted()).toEqual(['not-started', 'outcome-unknown', 'without-the-model'])
})

test('processes that die one after the other leave a session that ends well', async () => {
  const { length } = await countOperations()
  const death = fc.record({
    at: fc.integer({ min: 1, max: length }),
    death: fc.constantFrom<Death>(...DEATHS),
  })
  await fc.assert(fc.asyncProperty(fc.array(death, { minLength: 2, maxLength: 6 }), endsWell), {
    numRuns: sampler.size(400, 80),
    seed: sampler.seedOf('deaths in a row'),
  })
}, 120_000)

/** Plays through these deaths, and finds nothing wrong. */
async function endsWell(deaths: readonly { at: number; death: Death }[]): Promise<void> {
  const doomed = deaths.map((one) => new DoomedProcess(one.at, one.death))
  expect(examine(await playThrough(doomed))).toEqual(FINE)
}

/** What the model was told, and whether a run ended what another one had decided. */
function waysOf({ messages, askedInLastRun }: Aftermath): readonly string[] {
  const text = JSON.stringify(messages)
  return [
    ...['not-started', 'outcome-unknown'].filter((code) => text.includes(`[${code}]`)),
    ...(askedInLastRun === 0 ? ['without-the-model'] : []),
  ]
}
