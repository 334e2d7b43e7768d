import { expect, test } from 'vitest'
import {
  isLabels,
  isLedger,
  isNames,
  isOutcome,
  isRef,
  isRefs,
  isRunUsage,
  isSnapshotRef,
  isStatus,
  isStoredError,
} from '../../../src/state/columns/stored-shapes.ts'
import { spoiledOf } from './spoiled.ts'

const ref = {
  providerId: 'p',
  schemaVersion: 1,
  capabilities: { fs: true, shell: true, code: false, snapshot: true, branch: false },
  ref: 1,
}
const error = { code: 'c', message: 'm' }

interface Shape {
  readonly isShaped: (value: unknown) => boolean
  /** One with all of its fields. */
  readonly whole: unknown
  /** What may be missing. */
  readonly optional?: readonly string[]
  /** What may be anything. */
  readonly any?: readonly string[]
}

const SHAPES: Readonly<Record<string, Shape>> = {
  error: { isShaped: isStoredError, whole: error },
  outcome: {
    isShaped: isOutcome,
    whole: { status: 'failed', output: 1, error },
    optional: ['output', 'error'],
    any: ['output'],
  },
  labels: {
    isShaped: isLabels,
    whole: { userId: 'u', tags: ['t'], metadata: { m: 1 }, parentSessionId: 'p' },
    optional: ['userId', 'tags', 'metadata', 'metadata.m', 'parentSessionId'],
    any: ['metadata.m'],
  },
  usage: {
    isShaped: isRunUsage,
    whole: {
      inputTokens: 1,
      outputTokens: 2,
      totalTokens: 3,
      cost: 0.1,
      modelCalls: 4,
      durationMs: 5,
    },
    optional: ['cost'],
  },
  ref: {
    isShaped: isRef,
    whole: ref,
    optional: [
      'capabilities.fs',
      'capabilities.shell',
      'capabilities.code',
      'capabilities.snapshot',
      'capabilities.branch',
    ],
    any: ['ref'],
  },
  refs: {
    isShaped: isRefs,
    whole: { box: { ...ref, capabilities: {} } },
    optional: ['box'],
    any: ['box.ref'],
  },
  'snapshot ref': {
    isShaped: isSnapshotRef,
    whole: { providerId: 'p', ref: 1 },
    any: ['ref'],
  },
  names: { isShaped: isNames, whole: ['a', 'b'] },
  ledger: {
    isShaped: isLedger,
    whole: {
      known: { box: { '/f': { version: '1', ranges: [[1, 2]] } } },
      writers: { '/f': { actor: 'a', version: '1' } },
    },
    optional: ['known.box', 'known.box./f', 'known.box./f.ranges', 'writers./f'],
  },
}

test.each(Object.entries(SHAPES))('%s: each part counts', (_, shape) => {
  const { isShaped, whole, optional = [], any = [] } = shape
  expect(isShaped(whole)).toBe(true)
  for (const { path, isMissing, value } of spoiledOf(whole)) {
    const isGood = isMissing ? optional.includes(path) : any.includes(path)
    expect([path, isMissing, isShaped(value)]).toEqual([path, isMissing, isGood])
  }
})

const withRange = (range: readonly number[]): unknown => ({
  known: { box: { '/f': { version: '1', ranges: [range] } } },
  writers: {},
})

test('a range has two ends', () => {
  expect([[], [1], [1, 2], [1, 2, 3]].map((range) => isLedger(withRange(range)))).toEqual([
    false,
    false,
    true,
    false,
  ])
})

const STATUSES = [
  'idle',
  'running',
  'waiting',
  'interrupted',
  'completed',
  'failed',
  'aborted',
  'other',
  '',
]

test('a session has seven statuses; an outcome is of one that has ended, or waits', () => {
  expect(STATUSES.filter(isStatus)).toEqual(STATUSES.slice(0, 7))
  const ended = STATUSES.filter((status) => isOutcome({ status }))
  expect(ended).toEqual(['waiting', 'interrupted', 'completed', 'failed', 'aborted'])
})
