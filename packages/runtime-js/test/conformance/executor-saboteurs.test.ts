import { ConformanceError } from '@helix-agents/workspace-conformance'
import { executorBehaviours } from '@helix-agents/workspace-conformance/executor'
import { describe, expect, test } from 'vitest'
import { executorSaboteurs } from './executor-saboteurs.ts'
import { createSubject } from './executor-scenario.ts'

test('each behaviour has a saboteur', () => {
  const ids = executorBehaviours.map((behaviour) => behaviour.id)
  expect(Object.keys(executorSaboteurs)).toEqual(ids)
  expect(new Set(ids).size).toBe(ids.length)
})

// At once: some saboteurs are caught only when the patience with a silent run is over.
describe.concurrent('saboteurs', () => {
  test.each(executorBehaviours)(
    '$id rejects its saboteur',
    { timeout: 120_000 },
    async (behaviour) => {
      const broken = createSubject(executorSaboteurs[behaviour.id])
      await expect(behaviour.run(broken)).rejects.toBeInstanceOf(ConformanceError)
    },
  )
})
