import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { RateLimitedLogger } from '../../src/logging/rate-limited-logger.ts'
import { ManualClock, type LogLine, RecordingLogger } from '../../src/testing/index.ts'

function create(options: { maxKeys?: number; maxRollupLines?: number } = {}) {
  const logger = new RecordingLogger()
  const clock = new ManualClock()
  return { logger, clock, limited: new RateLimitedLogger({ logger, clock, ...options }) }
}

const isRollup = (line: LogLine): boolean => line.message.includes('[rate-limited]')
const countOf = (line: LogLine): number => Number(line.fields['suppressedCount'] ?? 0)
/** What the lines account for: one for each full line, and what the roll-ups count. */
const accountedFor = (lines: readonly LogLine[]): number =>
  lines.reduce((sum, line) => sum + (isRollup(line) ? countOf(line) : 1), 0)

test('the first of each distinct event is written at once and in full', () => {
  const { logger, clock, limited } = create()
  limited.warnRateLimited('box ls ;', 'rejected', { command: 'ls; 1' })
  limited.warnRateLimited('box ls |', 'rejected', { command: 'ls | 1' })
  limited.warnRateLimited('box ls ;', 'another', { command: 'ls; 2' })
  expect(logger.lines).toEqual([
    { level: 'warn', message: 'rejected', fields: { command: 'ls; 1' } },
    { level: 'warn', message: 'rejected', fields: { command: 'ls | 1' } },
    { level: 'warn', message: 'another', fields: { command: 'ls; 2' } },
  ])
  expect(clock.pendingTimers).toBe(0)
})

test('identical events are counted, and rolled up every five seconds while there are any', async () => {
  const { logger, clock, limited } = create()
  for (let i = 0; i < 10; i++) limited.warnRateLimited('k', 'rejected', { command: `ls; ${i}` })
  expect(logger.lines).toHaveLength(1)
  await clock.advance(4999)
  expect(logger.lines).toHaveLength(1)
  await clock.advance(1)
  expect(logger.lines[1]).toEqual({
    level: 'warn',
    message: '[rate-limited] rejected',
    fields: { command: 'ls; 0', suppressedCount: 9 },
  })
  expect(clock.pendingTimers).toBe(0)
  limited.warnRateLimited('k', 'rejected', {})
  await clock.advance(5000)
  expect(logger.lines[2]!.fields).toMatchObject({ suppressedCount: 1 })
  await clock.advance(60_000)
  expect(logger.lines).toHaveLength(3)
})

test('after the window the event is written in full again', async () => {
  const { logger, clock, limited } = create()
  limited.warnRateLimited('k', 'rejected', { n: 1 })
  await clock.advance(59_999)
  limited.warnRateLimited('k', 'rejected', { n: 2 })
  await clock.advance(1)
  limited.warnRateLimited('k', 'rejected', { n: 3 })
  expect(logger.lines.map((line) => [line.message, line.fields])).toEqual([
    ['rejected', { n: 1 }],
    ['[rate-limited] rejected', { n: 1, suppressedCount: 1 }],
    ['rejected', { n: 3 }],
  ])
  limited.flush()
  expect(accountedFor(logger.lines)).toBe(3)
})

test('flush writes what is counted and stops the timer', async () => {
  const { logger, clock, limited } = create()
  for (let i = 0; i < 3; i++) limited.warnRateLimited('k', 'rejected', {})
  expect(clock.pendingTimers).toBe(1)
  limited.flush()
  expect(clock.pendingTimers).toBe(0)
  expect(logger.lines.map(countOf)).toEqual([0, 2])
  limited.flush()
  await clock.advance(100_000)
  expect(logger.lines).toHaveLength(2)
})

test('keys without end cost bounded memory and bounded lines, and none goes uncounted', async () => {
  const { logger, clock, limited } = create({ maxKeys: 100 })
  for (let i = 0; i < 10_000; i++) limited.warnRateLimited(`attacker ${i}`, 'rejected', { i })
  // The hundred that have a place, and one for all the others.
  expect(logger.lines).toHaveLength(101)
  await clock.advance(5000)
  expect(logger.lines).toHaveLength(102)
  expect(accountedFor(logger.lines)).toBe(10_000)
  const rest = '[rate-limited] further warnings of different kinds'
  expect(logger.lines.at(-1)?.message).toBe(rest)
  // When the window is over the places are free again.
  await clock.advance(60_000)
  limited.warnRateLimited('attacker new', 'rejected', { i: -1 })
  expect(logger.lines.at(-1)!.fields).toEqual({ i: -1 })
})

test('a roll-up of many events is a few lines', async () => {
  const { logger, clock, limited } = create({ maxRollupLines: 5 })
  for (let round = 0; round < 3; round++) {
    for (let i = 0; i < 50; i++) limited.warnRateLimited(`k${i}`, 'rejected', { i })
  }
  await clock.advance(5000)
  expect(logger.lines.filter(isRollup)).toHaveLength(6)
  expect(logger.lines.at(-1)!.fields).toEqual({ suppressedCount: 90, distinctEvents: 45 })
  expect(accountedFor(logger.lines)).toBe(150)
})

test('property: every call is in one line or one count, and lines are bounded', async () => {
  const step = fc.record({
    key: fc.integer({ min: 0, max: 30 }),
    repeat: fc.integer({ min: 1, max: 20 }),
    waitMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 70_000 })),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const { logger, clock, limited } = create({ maxKeys: 10, maxRollupLines: 3 })
      const startMs = clock.now()
      let calls = 0
      for (const { key, repeat, waitMs } of steps) {
        for (let i = 0; i < repeat; i++) limited.warnRateLimited(`k${key}`, 'm', { key })
        calls += repeat
        await clock.advance(waitMs)
      }
      limited.flush()
      expect(accountedFor(logger.lines)).toBe(calls)
      const windows = Math.floor((clock.now() - startMs) / 60_000) + 1
      const rollups = Math.floor((clock.now() - startMs) / 5000) + 1
      // Full lines: 10 places and the shared one a window, each with at most one roll-up of its own.
      expect(logger.lines.length).toBeLessThanOrEqual(windows * 2 * 2 * 11 + rollups * 4)
      expect(clock.pendingTimers).toBe(0)
    }),
    { numRuns: 300 },
  )
})

test('the window and the interval of the roll-ups can be set', async () => {
  const logger = new RecordingLogger()
  const clock = new ManualClock()
  const times = { securityWindowMs: 100, rollupIntervalMs: 30 }
  const limited = new RateLimitedLogger({ logger, clock, ...times })
  const warn = (): void => limited.warnRateLimited('k', 'rejected', {})
  warn()
  warn()
  await clock.advance(29)
  expect(logger.lines.map(isRollup)).toEqual([false])
  await clock.advance(1)
  expect(logger.lines.map(isRollup)).toEqual([false, true])
  await clock.advance(69)
  warn()
  await clock.advance(1)
  warn()
  expect(logger.lines.map(isRollup)).toEqual([false, true, true, false])
})
