import { expect, test } from 'vitest'
import { STEPS } from './agent.ts'
import { playStory } from './story.ts'

const SESSIONS = 24

test('a machine is killed, one is frozen and wakes up: every turn completes, every effect exists once', async () => {
  const said: string[] = []
  const outcome = await playStory((line) => said.push(line))
  expect(outcome).toMatchObject({
    completed: SESSIONS,
    effects: SESSIONS * STEPS,
    files: SESSIONS * STEPS,
  })
  expect(outcome.machines).toEqual(['m1', 'm2', 'm3'])
  expect(outcome.takeovers).toBeGreaterThan(0)
  expect(outcome.restored).toBeGreaterThan(0)
  // What was under way when its machine stopped is asked for again, and its file once more.
  expect(outcome.attempts - outcome.effects).toBeLessThanOrEqual(2 * SESSIONS)
  expect(said.at(-1)).toBe('144 files are there, 6 for each session')
}, 120_000)
