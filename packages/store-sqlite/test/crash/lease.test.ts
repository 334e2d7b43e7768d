// Who holds a session, when the clock of all processes is the same.
import { expect, test, vi } from 'vitest'
import { judge } from './judge.ts'
import { withChild } from './with-child.ts'

const openLab = withChild()
const REFUSED = { type: 'refused', code: 'already-running' }
const LEASE_MS = 60_000

// Each starts some processes, on a machine that may be busy.
vi.setConfig({ testTimeout: 60_000 })

test('a killed process holds its session until its lease runs out', async () => {
  await openLab({ sessionId: 'held', steps: 12 }, async (lab) => {
    const first = await lab.next()
    await first.until(() => first.points >= 60)
    first.kill('SIGKILL')
    await first.ended
    const second = await lab.next({ clockAheadMs: LEASE_MS / 2 })
    await second.ended
    expect(second.reports).toContainEqual(REFUSED)
    const third = await lab.next({ clockAheadMs: LEASE_MS + 1000 })
    await third.ended
    expect(third.reports.at(-1)).toEqual({ type: 'ended', status: 'completed' })
    expect(judge(await lab.collect()).findings).toEqual([])
  })
})

test('a successor that insists gets the session when the lease is over', async () => {
  // The second process is loaded before: it comes in this time, also on a busy machine.
  const leaseMs = 6000
  await openLab({ sessionId: 'awaited', steps: 12 }, async (lab) => {
    await lab.prepare(2)
    const first = await lab.next({ clockAheadMs: 0, leaseMs })
    await first.until(() => first.points >= 60)
    const started = performance.now()
    first.kill('SIGKILL')
    await first.ended
    const second = await lab.next({ clockAheadMs: 0, leaseMs, insists: true })
    await second.until(() => second.points > 0 && second.hasSaid('refused'))
    await second.ended
    expect(second.reports).toContainEqual(REFUSED)
    expect(second.reports.at(-1)).toEqual({ type: 'ended', status: 'completed' })
    // The last renewal is about a third of the lease old at most.
    expect(performance.now() - started).toBeGreaterThan(leaseMs / 3)
    expect(judge(await lab.collect()).findings).toEqual([])
  })
})

test('a process that works is not disturbed by one that wants its session', async () => {
  await openLab({ sessionId: 'wanted', steps: 42 }, async (lab) => {
    await lab.prepare(2)
    const first = await lab.next({ clockAheadMs: 0 })
    await first.until(() => first.points >= 20)
    const second = await lab.next({ clockAheadMs: 0, insists: true })
    await Promise.all([first.ended, second.ended])
    expect(first.reports.at(-1)).toEqual({ type: 'ended', status: 'completed' })
    expect(second.reports).toContainEqual(REFUSED)
    expect(second.reports.at(-1)).toEqual({ type: 'ended', status: 'completed' })
    const { findings, told } = judge(await lab.collect())
    expect(findings).toEqual([])
    expect(told).toMatchObject({ unknown: 0, 'not-started': 0 })
  })
})

test('of two successors one gets the session', async () => {
  await openLab({ sessionId: 'contended', steps: 30 }, async (lab) => {
    await lab.prepare(3)
    const first = await lab.next()
    await first.until(() => first.points >= 60)
    first.kill('SIGKILL')
    await first.ended
    const both = { clockAheadMs: 2 * LEASE_MS }
    const rivals = [await lab.next(both), await lab.next(both)]
    await Promise.all(rivals.map((rival) => rival.ended))
    const last = rivals.map((rival) => rival.reports.at(-1)?.type)
    expect(new Set(last)).toEqual(new Set(['ended', 'refused']))
    expect(judge(await lab.collect()).findings).toEqual([])
  })
})
