// What the API tells of records and passes: each field, when it is known and when it is not.
import { describe, expect, test } from 'vitest'
import { newRecord, NOW, started } from '../store/store-samples.ts'
import {
  toWireCleanup,
  toWireDetail,
  toWireLogs,
  toWireReconcile,
  toWireResources,
  toWireSandbox,
  toWireStats,
} from '../../src/http/to-wire.ts'
import type { SandboxRecord } from '../../src/ledger/sandbox-record.ts'
import { fleetPolicySchema } from '../../src/safety/fleet-policy.ts'

const MINUTE_MS = 60_000
const isoOf = (ms: number): string => new Date(ms).toISOString()
const context = { now: NOW + 90_000, policy: fleetPolicySchema.parse({}) }

const BARE = started(newRecord('bare'))
const FULL: SandboxRecord = {
  ...BARE,
  id: 'full',
  status: 'terminating',
  generation: 3,
  statusSince: NOW + 1000,
  lastActivityAt: NOW + 30_000,
  agentType: 'coder',
  taskId: 'task',
  sessionId: 'session',
  tenant: 'tenant',
  critical: true,
  operations: 7,
  timeouts: 2,
  holdDeadlineAt: NOW + 2000,
  samples: [
    { at: NOW, cpuPercent: 1, memoryMb: 2 },
    { at: NOW, cpuPercent: 0, memoryMb: 64 },
  ],
  kill: { reason: 'idle', detail: 'for long', by: 'sweeper', at: NOW },
  owed: { since: NOW + 3000, attempts: 2, nextAttemptAt: NOW + 4000 },
  lastError: { code: 'broken', message: 'it broke', cause: 'a part', at: NOW + 5000 },
  history: [
    { at: NOW, event: 'provision', status: 'provisioning' },
    { at: NOW + 1, event: 'started', status: 'running', detail: 'at last' },
  ],
}

describe('a sandbox', () => {
  test('is told as far as it is known', () => {
    expect(toWireSandbox(BARE, context)).toEqual({
      id: 'bare',
      generation: 1,
      provider: 'p',
      status: 'running',
      environment: 'test',
      created_at: isoOf(NOW),
      age_minutes: 1.5,
      last_activity_at: isoOf(NOW),
      idle_minutes: 1.5,
      status_since: isoOf(NOW),
      agent_type: null,
      task_id: null,
      session_id: null,
      tenant: null,
      critical: false,
      operations: 0,
      timeouts: 0,
      cpu_percent: null,
      memory_mb: null,
      hold_deadline_at: null,
      kill_reason: null,
      owed: null,
      last_error: null,
      findings: [
        {
          code: 'no-owner',
          severity: 'warning',
          reason: 'It has no holder. Nothing happened in it for 90 s.',
          action: 'A cleanup ends it in 9 min, unless it is used.',
        },
      ],
    })
  })

  test('is told with all that is known of it', () => {
    expect(toWireSandbox(FULL, context)).toEqual({
      id: 'full',
      generation: 3,
      provider: 'p',
      status: 'terminating',
      environment: 'test',
      created_at: isoOf(NOW),
      age_minutes: 1.5,
      last_activity_at: isoOf(NOW + 30_000),
      idle_minutes: 1,
      status_since: isoOf(NOW + 1000),
      agent_type: 'coder',
      task_id: 'task',
      session_id: 'session',
      tenant: 'tenant',
      critical: true,
      operations: 7,
      timeouts: 2,
      cpu_percent: 0,
      memory_mb: 64,
      hold_deadline_at: isoOf(NOW + 2000),
      kill_reason: 'idle',
      owed: { since: isoOf(NOW + 3000), attempts: 2, next_attempt_at: isoOf(NOW + 4000) },
      last_error: { code: 'broken', message: 'it broke', cause: 'a part', at: isoOf(NOW + 5000) },
      findings: [
        {
          code: expect.any(String),
          severity: expect.any(String),
          reason: expect.stringMatching(/\.$/),
          action: expect.stringMatching(/\.$/),
        },
      ],
    })
  })

  test('in detail has its history, and why it ended', () => {
    const { kill_detail, history, ...rest } = toWireDetail(FULL, context)
    expect(rest).toEqual(toWireSandbox(FULL, context))
    expect(kill_detail).toBe('for long')
    expect(history).toEqual([
      { at: isoOf(NOW), event: 'provision', status: 'provisioning' },
      { at: isoOf(NOW + 1), event: 'started', status: 'running', detail: 'at last' },
    ])
    expect(toWireDetail(BARE, context).kill_detail).toBeNull()
    const { cause: _cause, ...lastError } = FULL.lastError!
    expect(toWireSandbox({ ...FULL, lastError }, context).last_error?.cause).toBeNull()
  })

  test.each([
    [-MINUTE_MS, 0],
    [0, 0],
    [2999, 0],
    [3000, 0.1],
    [MINUTE_MS, 1],
    [100 * MINUTE_MS, 100],
  ])('that is %d ms old is %d minutes old', (ms, minutes) => {
    const { age_minutes, idle_minutes } = toWireSandbox(BARE, { ...context, now: NOW + ms })
    expect([age_minutes, idle_minutes]).toEqual([minutes, minutes])
  })
})

test('the numbers of a fleet', () => {
  const stats = {
    environment: 'prod',
    active: 1,
    provisioning: 2,
    running: 3,
    detached: 4,
    terminating: 5,
    failed: 6,
    totalCreated: 7,
    totalDestroyed: 8,
    capacity: 9,
    usedRatio: 0.5,
    usage: { executions: 10, timeouts: 11 },
  }
  const told = {
    environment: 'prod',
    active: 1,
    provisioning: 2,
    running: 3,
    detached: 4,
    terminating: 5,
    failed: 6,
    total_created: 7,
    total_destroyed: 8,
    max_concurrent: 9,
    usage: 0.5,
    executions: 10,
    timeouts: 11,
    time: isoOf(NOW),
  }
  expect(toWireStats(stats, NOW)).toEqual({ ...told, last_cleanup_at: null })
  const cleaned = toWireStats({ ...stats, lastCleanupAt: 0 }, NOW)
  expect(cleaned).toEqual({ ...told, last_cleanup_at: '1970-01-01T00:00:00.000Z' })
})

test('what a sandbox uses', () => {
  const usage = { cpuPercent: 0, memoryMb: 2, durationMs: 3, operations: 4 }
  expect(toWireResources(usage)).toEqual({
    cpu_percent: 0,
    memory_mb: 2,
    duration_ms: 3,
    operations: 4,
  })
})

describe('logs', () => {
  test.each([
    ['', []],
    ['\n', ['']],
    ['one', ['one']],
    ['one\ntwo\n', ['one', 'two']],
    ['one\n\n', ['one', '']],
  ])('%j', (text, lines) => {
    expect(toWireLogs('a', text)).toEqual({ id: 'a', lines, is_cut: false })
  })

  test('of many lines are cut to the last thousand', () => {
    const lines = Array.from({ length: 1001 }, (_, index) => String(index))
    expect(toWireLogs('a', lines.slice(1).join('\n'))).toMatchObject({ is_cut: false })
    const cut = toWireLogs('a', lines.join('\n'))
    expect(cut).toEqual({ id: 'a', lines: lines.slice(1), is_cut: true })
  })

  test('of long lines are cut to the last MiB', () => {
    const length = 1024 * 1024
    const whole = toWireLogs('a', 'x'.repeat(length))
    expect([whole.is_cut, whole.lines[0]?.length]).toEqual([false, length])
    const cut = toWireLogs('a', `${'x'.repeat(length)}y`)
    expect([cut.is_cut, cut.lines[0]?.length, cut.lines[0]?.at(-1)]).toEqual([true, length, 'y'])
  })
})

describe('a pass', () => {
  const report = {
    isDryRun: true,
    outcome: 'more',
    startedAt: NOW,
    finishedAt: NOW + 1,
  } as const
  const told = {
    dry_run: true,
    outcome: 'more',
    started_at: isoOf(NOW),
    finished_at: isoOf(NOW + 1),
  }

  test('of a cleanup', () => {
    const counts = { examined: 9, found: 9, cleaned: 9, unreadable: 9 }
    const item = {
      id: 'a',
      provider: 'p',
      reason: 'idle',
      detail: 'Long.',
      outcome: 'owed',
    } as const
    const items = [
      { ...item, action: 'terminate' },
      { ...item, action: 'retry' },
    ] as never
    const cleanup = {
      ...report,
      mode: 'scheduled',
      items,
      spared: { leased: 1 },
      ...counts,
    } as const
    const wire = {
      ...told,
      pass: 'cleanup',
      items: [
        { id: 'a', provider: 'p', action: 'destroy (idle)', reason: 'Long.', outcome: 'owed' },
        { id: 'a', provider: 'p', action: 'destroy again', reason: 'Long.', outcome: 'owed' },
      ],
      spared: { leased: 1 },
      rejected: [],
      error: null,
    }
    expect(toWireCleanup(cleanup)).toEqual(wire)
    const emergency = toWireCleanup({ ...cleanup, mode: 'emergency', error: 'away' })
    expect(emergency).toEqual({ ...wire, pass: 'emergency', error: 'away' })
  })

  test('of a reconciliation', () => {
    const item = { id: 'a', provider: 'p', outcome: 'healed' } as const
    const items = [
      { ...item, kind: 'heal-record', status: 'running' },
      { ...item, kind: 'end-orphan' },
      { ...item, kind: 'destroy-again', status: 'terminated' },
    ] as never
    const rejected = [{ provider: 'p', because: 'partial', detail: 'half' }] as never
    const reconcile = { ...report, items, rejected, skipped: 0 }
    const wire = {
      ...told,
      pass: 'reconcile',
      items: [
        ['record that it is gone', 'Its record is running.'],
        ['adopt it, or end it', 'The ledger has no record of it.'],
        ['destroy again', 'Its record is terminated.'],
      ].map(([action, reason]) => ({ ...item, action, reason })),
      spared: {},
      rejected: [{ provider: 'p', because: 'partial', detail: 'half' }],
      error: null,
    }
    expect(toWireReconcile(reconcile)).toEqual(wire)
    const skipping = toWireReconcile({ ...reconcile, skipped: 1, error: 'away' })
    expect(skipping).toEqual({ ...wire, spared: { 'no usable id': 1 }, error: 'away' })
  })
})
