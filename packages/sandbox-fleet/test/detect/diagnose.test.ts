import {
  diagnose,
  parseFleetPolicy,
  type ResourceSample,
  type SandboxRecord,
} from '@helix-agents/sandbox-fleet'
import { describe, expect, test } from 'vitest'
import { resourcePatterns } from '../../src/detect/resource-pattern.ts'
import { newRecord, started } from '../store/store-samples.ts'

const MINUTE_MS = 60_000
const policy = parseFleetPolicy({})
const base = started(newRecord('a'))
const now = base.createdAt + 20 * MINUTE_MS
const held = { kind: 'owner', holder: 'run', until: now + 1 } as const

function kinds(record: SandboxRecord): readonly string[] {
  return diagnose(record, { now, policy }).map(({ kind, severity }) => `${kind} ${severity}`)
}

function aged(ageMs: number, idleMs: number, fields: Partial<SandboxRecord> = {}): SandboxRecord {
  return { ...base, createdAt: now - ageMs, lastActivityAt: now - idleMs, ...fields }
}

describe('diagnose', () => {
  const table: readonly (readonly [string, SandboxRecord, readonly string[]])[] = [
    ['in use for four minutes', aged(4 * MINUTE_MS, 1000, { lease: held }), []],
    [
      'in use for six minutes',
      aged(6 * MINUTE_MS, 1000, { lease: held }),
      ['long-running warning'],
    ],
    [
      'held, nothing for eleven minutes',
      aged(12 * MINUTE_MS, 11 * MINUTE_MS, { lease: held }),
      ['stuck critical'],
    ],
    ['idle for eleven minutes, nobody', aged(12 * MINUTE_MS, 11 * MINUTE_MS), ['stuck critical']],
    ['idle for a minute, nobody', aged(12 * MINUTE_MS, MINUTE_MS), ['no-owner warning']],
    [
      'waits for its session',
      aged(90 * MINUTE_MS, 80 * MINUTE_MS, { lease: { ...held, kind: 'detached' } }),
      [],
    ],
    [
      'past its deadline',
      aged(6 * MINUTE_MS, 1, { lease: held, deadlineAt: now - 1 }),
      ['past-deadline critical', 'long-running warning'],
    ],
    [
      'three timeouts',
      aged(MINUTE_MS, 1, { lease: held, consecutiveTimeouts: 3 }),
      ['repeated-timeouts warning'],
    ],
    ['silent', aged(MINUTE_MS, 1, { lease: held, unknownProbes: 3 }), ['unreachable warning']],
    [
      'starts slowly',
      { ...newRecord('a'), provisionDeadlineAt: now - 1 },
      ['provisioning-overdue warning'],
    ],
    ['starts', { ...newRecord('a'), provisionDeadlineAt: now + 1 }, []],
    ['failed', { ...base, status: 'failed' }, ['failed warning']],
    [
      'owed once',
      { ...base, status: 'terminating', owed: { since: 0, attempts: 1, nextAttemptAt: now } },
      ['destroy-owed warning'],
    ],
    [
      'owed for long',
      { ...base, status: 'terminating', owed: { since: 0, attempts: 3, nextAttemptAt: now } },
      ['destroy-owed critical'],
    ],
    [
      'being destroyed',
      { ...base, status: 'terminating', owed: { since: 0, attempts: 0, nextAttemptAt: now } },
      [],
    ],
    ['gone', { ...base, status: 'terminated' }, []],
  ]
  test.each(table)('%s', (_, record, expected) => {
    expect(kinds(record)).toEqual(expected)
  })

  test('a finding explains itself', () => {
    const [finding] = diagnose(aged(12 * MINUTE_MS, 11 * MINUTE_MS), { now, policy })
    expect(finding).toMatchObject({
      sandboxId: 'a',
      evidence: { ageMs: 12 * MINUTE_MS, idleMs: 11 * MINUTE_MS },
      since: now - MINUTE_MS,
    })
    expect(
      [finding?.reason, finding?.nextStep].every((text) => text !== undefined && text.length > 10),
    ).toBe(true)
  })

  test('samples are looked at only when it runs for long', () => {
    const samples = [0, 1, 2].map((n) => ({
      at: now - (3 - n) * MINUTE_MS,
      cpuPercent: 100,
      memoryMb: 10,
    }))
    expect(kinds(aged(4 * MINUTE_MS, 1, { lease: held, samples }))).toEqual([])
    expect(kinds(aged(6 * MINUTE_MS, 1, { lease: held, samples }))).toContain('busy-loop warning')
  })

  test('one in which operations end is not hung, however little it computes', () => {
    const samples = [15, 10, 5, 1].map((minutesAgo) => ({
      at: now - minutesAgo * MINUTE_MS,
      cpuPercent: minutesAgo === 15 ? 100 : 0,
      memoryMb: 2,
    }))
    const used = (minutesAgo: number) =>
      kinds(aged(19 * MINUTE_MS, minutesAgo * MINUTE_MS, { lease: held, samples }))
    expect(used(0)).toEqual(['long-running warning'])
    expect(used(6)).toEqual(['long-running warning'])
    expect(used(12)).toEqual(['stuck critical', 'hang warning'])
  })
})

const of = (...pairs: (readonly [cpuPercent: number, memoryMb: number])[]) =>
  pairs.map(([cpuPercent, memoryMb], n) => ({ at: n * MINUTE_MS, cpuPercent, memoryMb }))

const halfApart = (sample: ResourceSample): ResourceSample => ({
  ...sample,
  at: now + sample.at / 2,
})
const lessApart = (sample: ResourceSample): ResourceSample => ({
  ...sample,
  at: now + sample.at / 2 - (sample.at > MINUTE_MS ? 1 : 0),
})

describe('resourcePatterns', () => {
  test.each([
    ['busy all the time', of([100, 50], [98, 50], [180, 50]), ['busy-loop']],
    ['busy but once', of([100, 50], [20, 50], [100, 50]), []],
    ['waits all the time', of([0, 50], [0, 50], [1, 50]), ['hang']],
    ['grows', of([30, 100], [30, 160], [30, 240]), ['memory-growth']],
    ['grows with rests', of([30, 100], [30, 160], [30, 160], [30, 240]), ['memory-growth']],
    ['grows and computes', of([100, 100], [100, 160], [100, 240]), ['busy-loop', 'memory-growth']],
    ['grows and shrinks', of([30, 100], [30, 400], [30, 240]), []],
    ['grows a little', of([30, 10], [30, 20], [30, 40]), []],
    ['too few samples', of([100, 50], [100, 50]), []],
    ['a minute', of([100, 50], [100, 50], [100, 50]).map(halfApart), ['busy-loop']],
    ['less than a minute', of([100, 50], [100, 50], [100, 50]).map(lessApart), []],
    ['nothing', [], []],
  ])('%s', (_, samples, expected) => {
    expect(resourcePatterns(samples)).toEqual(expected)
  })

  test('samples of the same moment say nothing', () => {
    const samples = [0, 1, 2].map((at) => ({ at, cpuPercent: 100, memoryMb: 1 }))
    expect(resourcePatterns(samples)).toEqual([])
  })
})
