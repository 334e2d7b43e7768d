import type { TestSampler } from '@helix-agents/core/testing'
import { expect } from 'vitest'
import { runSchedule, type ScheduleOptions, type ScheduleResult } from './run-schedule.ts'
import type { Tally } from './world.ts'

/** Runs this one seed, with its whole story: see the message of a failure. */
const ONE_SEED = process.env.HELIX_FLEET_SEED
/** How many schedules there are in all. */
const SCHEDULES = 10_000
/** A sample runs this part of them. */
const SAMPLED_PART = 10

/** A machine that is busy with other things takes many times as long as one that is not. */
export const LONG = { timeout: 1_200_000 }

/** Runs a part of all schedules, or some of it that are in a row; the first that goes wrong fails, with how to see it again. */
export async function runMany(
  sampler: TestSampler,
  part: { readonly index: number; readonly of: number },
): Promise<Tally> {
  if (ONE_SEED !== undefined) return replay(Number(ONE_SEED))
  const total = new Map<string, number>()
  const all = SCHEDULES / part.of
  const count = sampler.size(all, all / SAMPLED_PART)
  const skipped = Math.floor(sampler.random(`schedules ${part.index}`)() * (all - count + 1))
  const from = 1 + part.index * all + skipped
  let last: ScheduleResult | undefined
  for (let seed = from; seed < from + count; seed += 1) {
    last = await runSchedule(seed)
    assertGood(last)
    await answerRunner()
    for (const [name, value] of Object.entries(last.tally)) {
      total.set(name, (total.get(name) ?? 0) + value)
    }
  }
  return Object.fromEntries(total) as unknown as Tally
}

/** A schedule leaves the event loop no turn, and whoever runs the tests asks for signs of life. */
function answerRunner(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}

async function replay(seed: number): Promise<Tally> {
  const result = await runSchedule(seed, { isTraced: true })
  process.stdout.write(`${result.trace.join('\n')}\n`)
  assertGood(result)
  return result.tally
}

export function assertGood({ seed, violations }: ScheduleResult): void {
  const again = `HELIX_FLEET_SEED=${seed} npx vitest run --config vitest.workspace.ts --project node packages/sandbox-fleet/test/simulation/schedules-1.test.ts`
  expect(violations, `schedule ${seed} went wrong; see it again with: ${again}`).toEqual([])
}

/** The first seed at which something is noticed. */
export async function firstNoticed(options: ScheduleOptions, most: number): Promise<number> {
  for (let seed = 1; seed <= most; seed += 1) {
    const { violations } = await runSchedule(seed, options)
    if (violations.length > 0) return seed
  }
  return Number.POSITIVE_INFINITY
}
