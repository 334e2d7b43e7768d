// A process that asks, that answers or that goes on with an answer may die at any operation on its stores.
import { TestSampler } from '@helix-agents/core/testing'
import { describe, expect, test } from 'vitest'
import { DEATHS, type Death } from '../../crash/failing-store.ts'
import type { Plan } from './agents.ts'
import { problemsOf } from './invariants.ts'
import { type Action, World } from './world.ts'

const sampler = new TestSampler()
/** More than the scenario has: a process that is to die later than its end lives. */
const OPERATIONS = Array.from({ length: 150 }, (_, index) => index + 1)

const PLAN: Plan = {
  root: [['pay', 'charge', 'look'], ['middle', 'pay'], ['maybe']],
  middle: [['pay', 'charge']],
  leaf: [],
}
const IMMORTAL = { isLater: false, at: Infinity, death: 'before-it-arrives' } as const
const APPROVALS: readonly Action[] = Array.from({ length: 4 }, (_, which) => ({
  type: 'answer',
  which,
  how: which === 1 ? 'edit' : 'approve',
}))

async function problemsAfter(first: typeof IMMORTAL | Dying, actions: readonly Action[]) {
  const world = new World(PLAN, first)
  await world.play(actions)
  return problemsOf(world)
}

interface Dying {
  readonly isLater: boolean
  readonly at: number
  readonly death: Death
}

describe.each(DEATHS)('a process that dies at an operation, %s', (death) => {
  test('while it asks and acts on answers, leaves a session that ends well', async () => {
    for (const at of sampler.pick(`asks ${death}`, OPERATIONS, 5)) {
      const problems = await problemsAfter({ isLater: false, at, death }, APPROVALS)
      expect({ at, problems }).toEqual({ at, problems: [] })
    }
  })

  test('while it answers and resumes what another one has left, leaves one as well', async () => {
    for (const at of sampler.pick(`answers ${death}`, OPERATIONS, 5)) {
      const restart: Action = { type: 'restart', isLater: false, at, death }
      const problems = await problemsAfter(IMMORTAL, [restart, ...APPROVALS])
      expect({ at, problems }).toEqual({ at, problems: [] })
    }
  })
})
