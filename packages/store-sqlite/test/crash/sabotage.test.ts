// The crash test itself is tested: with stores that break one promise it must fail.
import { expect, test } from 'vitest'
import type { FindingCode } from './evidence.ts'
import { judge } from './judge.ts'
import type { Sabotage } from './watched-stores.ts'
import { withChild } from './with-child.ts'

const openLab = withChild()
const STEPS = 6

/** Points of a short session at which its process may end. */
const POINTS = Array.from({ length: 23 }, (_, index) => 40 + 7 * index)

/** Each with the point at which it shows: the search begins there and wraps around. */
test.each<[Sabotage, FindingCode, number]>([
  ['write-behind', 'effect-doubled', 82],
  ['no-journal', 'effect-doubled', 103],
  ['short-step', 'result-missing', 61],
  ['lost-chunks', 'stream-incomplete', 40],
])('stores with the fault %s are noticed', { timeout: 120_000 }, async (sabotage, code, from) => {
  const found = new Set<FindingCode>()
  const start = POINTS.indexOf(from)
  for (const dieAtPoint of [...POINTS.slice(start), ...POINTS.slice(0, start)]) {
    for (const each of await findingsOf(sabotage, dieAtPoint)) found.add(each)
    if (found.has(code)) break
  }
  expect([...found]).toContain(code)
})

function findingsOf(sabotage: Sabotage, dieAtPoint: number): Promise<readonly FindingCode[]> {
  return openLab({ sessionId: 'sabotaged', steps: STEPS }, async (lab) => {
    const doomed = await lab.next({ sabotage, dieAtPoint })
    await doomed.ended
    const next = await lab.next(isLasting(sabotage) ? { sabotage } : {})
    await next.ended
    return judge(await lab.collect()).findings.map((finding) => finding.code)
  })
}

/** A fault that shows only when the next process has it as well. */
function isLasting(sabotage: Sabotage): boolean {
  return sabotage === 'no-journal'
}
