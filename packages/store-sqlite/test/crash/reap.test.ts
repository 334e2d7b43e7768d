// Somebody tidies up while sessions live and die.
import type { ReapReport } from '@helix-agents/workspace-local-bash'
import { expect, test } from 'vitest'
import { judge } from './judge.ts'
import { withChild } from './with-child.ts'

const openLab = withChild()
/** Longer than what a dead process keeps its directories, shorter than the rest. */
const HOURS_MS = 2 * 3_600_000

test('reaping leaves the living alone', { timeout: 120_000 }, async () => {
  await openLab({ sessionId: 'reaped', steps: 40 }, async (lab) => {
    const child = await lab.next()
    const reports: ReapReport[] = []
    for (let points = 60; points < 600; points += 20) {
      await child.until(() => child.points >= points)
      if (!child.hasEnded) reports.push(await lab.reap(HOURS_MS))
    }
    await child.ended
    expect(reports.length).toBeGreaterThan(0)
    expect(reports.flatMap(({ failed }) => failed)).toEqual([])
    expect(child.reports.at(-1)).toEqual({ type: 'ended', status: 'completed' })
    expect(judge(await lab.collect()).findings).toEqual([])
  })
})

test('a reaped workspace is reported, and its session goes on', { timeout: 120_000 }, async () => {
  await openLab({ sessionId: 'bereft', steps: 12 }, async (lab) => {
    const doomed = await lab.next()
    await doomed.until(() => doomed.points >= 60)
    doomed.kill('SIGKILL')
    await doomed.ended
    const { removed } = await lab.reap(HOURS_MS)
    expect(removed.length).toBeGreaterThan(0)
    const next = await lab.next()
    await next.ended
    expect(next.reports.at(-1)).toEqual({ type: 'ended', status: 'completed' })
    const { directories, processes } = await lab.collect()
    expect({ directories, processes }).toEqual({ directories: [], processes: [] })
  })
})
