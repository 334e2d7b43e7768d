// The crash test itself is tested: with stores that break one promise it must fail.
import { expect, test } from 'vitest'
import type { FindingCode } from './evidence.ts'
import { judge } from './judge.ts'
import type { Sabotage } from './watched-stores.ts'
import { withChild } from './with-child.ts'

const openLab = withChild()
const STEPS = 6

test.each<[Sabotage, FindingCode]>([
  ['write-behind', 'effect-doubled'],
  ['no-journal', 'effect-doubled'],
  ['short-step', 'result-missing'],
  ['lost-chunks', 'stream-incomplete'],
])('stores with the fault %s are noticed', { timeout: 60_000 }, async (sabotage, code) => {
  const found = new Set<FindingCode>()
  for (let dieAtPoint = 40; dieAtPoint < 200 && !found.has(code); dieAtPoint += 7) {
    for (const each of await findingsOf(sabotage, dieAtPoint)) found.add(each)
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
