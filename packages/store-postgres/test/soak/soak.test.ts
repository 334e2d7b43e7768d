// A day of sessions, streams, requests, snapshots and deletions, an hour at a time: nothing grows but once.
import { systemClock } from '@helix-agents/core'
import { TestSampler } from '@helix-agents/core/testing'
import { startTestPostgres } from '@helix-agents/postgres-testbed'
import { Client } from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { opened } from '../opened.ts'
import { deadRows, type Figures, takeFigures } from './soak-figures.ts'
import { CHUNKS_OF_SESSION, forgetSession, liveSession, type Machines } from './soak-session.ts'

const sampler = new TestSampler()
const hours = sampler.size(24, 6)
const sessionsAnHour = sampler.size(100, 3)
/** Sessions at a time. */
const LANES = 8
/** Sessions are kept for so many hours. */
const KEPT_HOURS = 2
/** From then on as much goes as comes. */
const STEADY_HOUR = KEPT_HOURS + 2
const HOUR_MS = 3_600_000
const MAX_CONNECTIONS = 6
/** As the page on many machines advises. */
const TUNED = 'ALTER TABLE helix_sessions SET (autovacuum_vacuum_scale_factor = 0.02)'
/** A day passes in minutes: autovacuum looks as often in each of its hours. */
const SETTINGS = { autovacuum_naptime: '1s' }
const MEBIBYTE = 1024 ** 2

test(
  `${hours} hours of ${sessionsAnHour} sessions leave nothing behind`,
  {
    timeout: sampler.size(3_600_000, 600_000),
  },
  async () => {
    const server = await startTestPostgres({ settings: SETTINGS })
    // After the connections, which are made later.
    onTestFinished(() => server.remove())
    const { url } = await server.createDatabase()
    let aheadMs = 0
    const clock = { ...systemClock, now: () => systemClock.now() + aheadMs }
    const options = { clock, leaseClock: 'caller', maxConnections: MAX_CONNECTIONS } as const
    const [writer, reader] = [await opened(url, options), await opened(url, options)]
    const client = new Client({ connectionString: url })
    await client.connect()
    onTestFinished(() => client.end())
    await client.query(TUNED)
    const figures: Figures[] = []
    for (let hour = 0; hour < hours; hour++) {
      await spendHour({ writer, reader }, hour, clock.now())
      await expect.poll(() => deadRows(client), { timeout: 120_000 }).toMatchObject({ late: 0 })
      figures.push(await takeFigures(client))
      aheadMs += HOUR_MS
    }
    judge(figures)
  },
)

/** The sessions of an hour begin and end, and those of an earlier one are forgotten. */
async function spendHour(machines: Machines, hour: number, now: number): Promise<void> {
  const left = Array.from({ length: sessionsAnHour }, (_, n) => n)
  const lane = async (): Promise<void> => {
    for (let n = left.pop(); n !== undefined; n = left.pop()) {
      expect(await liveSession(machines, idOf(hour, n), now)).toBe(CHUNKS_OF_SESSION)
      if (hour >= KEPT_HOURS) await forgetSession(machines, idOf(hour - KEPT_HOURS, n))
    }
  }
  await Promise.all(Array.from({ length: LANES }, lane))
}

function idOf(hour: number, n: number): string {
  return `hour-${hour}-session-${n}`
}

function judge(figures: readonly Figures[]): void {
  const [first, ...later] = figures.slice(STEADY_HOUR)
  if (first === undefined) throw new RangeError('too few hours')
  for (const one of later) {
    expect(one.rows).toBe(first.rows)
    expect(one.bytes).toBeLessThan(1.25 * first.bytes + 2 * MEBIBYTE)
    expect(one.heapBytes).toBeLessThan(1.25 * first.heapBytes + 8 * MEBIBYTE)
    expect(one.connections).toBeLessThanOrEqual(2 * (MAX_CONNECTIONS + 1))
    expect(one.listeners).toBeLessThanOrEqual(2)
  }
  // A sample leaves too little behind to be cleaned.
  const fewest = sampler.isExhaustive ? first.vacuums + later.length : 0
  expect(later.at(-1)?.vacuums).toBeGreaterThanOrEqual(fewest)
}
