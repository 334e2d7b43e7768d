import { expect, test } from 'vitest'
import { LONG, runMany, SCHEDULES } from './many-schedules.ts'

// Two files, since test files run beside each other.
test(`no schedule breaks a promise (2 of 2, of ${SCHEDULES})`, LONG, async () => {
  const tally = await runMany({ index: 1, of: 2 })
  expect(tally.created).toBeGreaterThan(0)
})
