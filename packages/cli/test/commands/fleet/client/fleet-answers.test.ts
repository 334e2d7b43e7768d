// The form of what a fleet answers: what may be missing, and that each field is of its kind.
import { expect, test } from 'vitest'
import type * as z from 'zod'
import {
  listSchema,
  logsSchema,
  passSchema,
  resourcesSchema,
  sandboxSchema,
  statsSchema,
  terminationSchema,
} from '../../../../src/commands/fleet/client/fleet-answers.ts'

type Fields = Readonly<Record<string, unknown>>

const STATS = { active: 1, provisioning: 0, terminating: 0, total_created: 1, total_destroyed: 0 }
const SANDBOX = { id: 'a', status: 'running', created_at: 't', age_minutes: 1 }
const FINDING = { code: 'stuck', severity: 'warning', reason: 'r', action: 'a' }
const OWED = { since: 't', attempts: 1, next_attempt_at: 't' }
const EVENT = { at: 't', event: 'started', status: 'running' }
const PASS = { pass: 'cleanup', dry_run: false, outcome: 'completed', items: [] }
const ITEM = { id: 'a', provider: 'p', action: 'destroy', reason: 'idle', outcome: 'owed' }
const REJECTED = { provider: 'p', because: 'partial', detail: 'd' }

/** Each with the least that is one, and what is added to that. */
const answers: readonly (readonly [string, z.ZodType, least: Fields, defaults: Fields])[] = [
  [
    'stats',
    statsSchema,
    STATS,
    { running: 0, detached: 0, failed: 0, executions: 0, timeouts: 0, environment: '?' },
  ],
  [
    'a sandbox',
    sandboxSchema,
    SANDBOX,
    {
      provider: '?',
      agent_type: null,
      task_id: null,
      session_id: null,
      tenant: null,
      critical: false,
      kill_reason: null,
      kill_detail: null,
      owed: null,
      last_error: null,
      findings: [],
    },
  ],
  ['logs', logsSchema, { lines: ['a'] }, { is_cut: false }],
  [
    'resources',
    resourcesSchema,
    { cpu_percent: null, memory_mb: 1, duration_ms: 1, operations: 0 },
    {},
  ],
  ['an end', terminationSchema, { id: 'a', outcome: 'gone' }, {}],
  ['a pass', passSchema, PASS, { spared: {}, rejected: [], error: null }],
]

test.each(answers)('%s: what may be missing has a value, and the rest passes', (...answer) => {
  const [, schema, least, defaults] = answer
  const known = { ...least, of_a_later_release: 1 }
  expect(schema.parse(known)).toEqual({ ...known, ...defaults })
  for (const name of Object.keys(least)) {
    const { [name]: _, ...rest } = least
    expect([name, schema.safeParse(rest).success]).toEqual([name, false])
  }
})

/** Fields that are there in an answer, each with a value that is none. */
const wrong: readonly (readonly [string, z.ZodType, least: Fields, fields: Fields])[] = [
  [
    'stats',
    statsSchema,
    STATS,
    {
      active: null,
      provisioning: '1',
      running: null,
      detached: null,
      terminating: null,
      failed: null,
      total_created: null,
      total_destroyed: null,
      executions: null,
      timeouts: null,
      max_concurrent: null,
      environment: 1,
      last_cleanup_at: 1,
      time: 1,
    },
  ],
  [
    'a sandbox',
    sandboxSchema,
    SANDBOX,
    {
      id: 1,
      provider: 1,
      status: null,
      created_at: 1,
      age_minutes: '1',
      idle_minutes: null,
      agent_type: 1,
      task_id: 1,
      session_id: 1,
      tenant: 1,
      critical: null,
      operations: null,
      timeouts: null,
      cpu_percent: '1',
      memory_mb: '1',
      kill_reason: 1,
      kill_detail: 1,
      owed: {},
      last_error: {},
      findings: [{}],
      history: [{}],
    },
  ],
  ['logs', logsSchema, { lines: [] }, { lines: [1], is_cut: null }],
  [
    'a pass',
    passSchema,
    PASS,
    { spared: { a: 'b' }, rejected: [{}], error: 1, items: [{}], dry_run: 0 },
  ],
]

test.each(wrong)('%s: a field of another kind is refused', (_, schema, least, fields) => {
  for (const [name, value] of Object.entries(fields)) {
    const result = schema.safeParse({ ...least, [name]: value })
    expect([name, result.success]).toEqual([name, false])
  }
})

const parts: readonly (readonly [string, Fields, optional: Fields])[] = [
  ['owed', OWED, {}],
  ['last_error', { code: 'c', message: 'm' }, { cause: 1 }],
  ['findings', FINDING, {}],
  ['history', EVENT, { detail: null }],
  ['items', ITEM, {}],
  ['rejected', REJECTED, {}],
]

test.each(parts)('each part of %s is of its kind', (name, least, optional) => {
  const [schema, base] =
    name === 'items' || name === 'rejected' ? [passSchema, PASS] : [sandboxSchema, SANDBOX]
  const isList = name !== 'owed' && name !== 'last_error'
  const parse = (part: Fields) =>
    schema.safeParse({ ...base, [name]: isList ? [part] : part }).success
  expect(parse({ ...least, of_a_later_release: 1 })).toBe(true)
  for (const [field, value] of Object.entries({ ...least, ...optional })) {
    const other = typeof value === 'string' ? 1 : 'x'
    const odd = field in optional ? value : other
    expect([field, parse({ ...least, [field]: odd })]).toEqual([field, false])
  }
})

test('a severity is one of two, a list has sandboxes, and what is null may be', () => {
  expect(
    sandboxSchema.safeParse({ ...SANDBOX, findings: [{ ...FINDING, severity: 'x' }] }).success,
  ).toBe(false)
  expect(listSchema.safeParse([SANDBOX, {}]).success).toBe(false)
  const nulls = { cpu_percent: null, memory_mb: null, owed: null, last_error: null }
  expect(sandboxSchema.parse({ ...SANDBOX, ...nulls })).toMatchObject(nulls)
  expect(statsSchema.parse({ ...STATS, last_cleanup_at: null })).toMatchObject(STATS)
})
