import { FleetError } from '@helix-agents/core/runtime'
import {
  nextStatus,
  SANDBOX_STATUSES,
  type SandboxEventType,
  type SandboxStatus,
} from '@helix-agents/sandbox-fleet'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { applyEvent, type SandboxEvent } from '../../src/ledger/lifecycle.ts'
import { parseRecord } from '../../src/ledger/record-schema.ts'
import { countChanges, countsOf } from '../../src/ledger/record-counts.ts'
import { MAX_HISTORY, type SandboxRecord } from '../../src/ledger/sandbox-record.ts'
import { newRecord } from '../store/store-samples.ts'

const kill = { reason: 'operator', detail: 'test', by: 'test' } as const
const events: Readonly<Record<SandboxEventType, SandboxEvent>> = {
  started: { type: 'started' },
  fail: { type: 'fail', error: { code: 'x', message: 'y' } },
  terminate: { type: 'terminate', kill, retryAt: 0 },
  destroyed: { type: 'destroyed' },
  vanish: { type: 'vanish', detail: 'z' },
  reappear: { type: 'reappear', kill, retryAt: 0 },
  reclaim: { type: 'reclaim' },
  provision: { type: 'provision', sandbox: newRecord('a') },
}
const types = Object.keys(events) as SandboxEventType[]

const allowed = [
  'provisioning started running',
  'provisioning fail failed',
  'provisioning terminate terminating',
  'provisioning vanish terminated',
  'running fail failed',
  'running terminate terminating',
  'running vanish terminated',
  'failed started running',
  'failed terminate terminating',
  'failed vanish terminated',
  'terminating destroyed terminated',
  'terminating reclaim running',
  'terminating vanish terminated',
  'terminated reappear terminating',
  'terminated provision provisioning',
]

describe('the machine', () => {
  test('has exactly these transitions', () => {
    const found = SANDBOX_STATUSES.flatMap((status) =>
      types.map((type) => `${status} ${type} ${tryNext(status, type)}`),
    )
    const legal = found.filter((each) => !each.endsWith('invalid-transition'))
    expect(legal.toSorted()).toEqual(allowed.toSorted())
    expect(found).toHaveLength(40)
  })

  test('keeps every record whole, whatever happens in whichever order', () => {
    const step = fc.record({
      type: fc.constantFrom(...types),
      afterMs: fc.integer({ min: -5, max: 50 }),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        let record: SandboxRecord = newRecord('a')
        for (const { type, afterMs } of steps) {
          const next = tryApply(record, type, record.statusSince + afterMs)
          if (next === undefined) continue
          expect(next.version).toBe(record.version + 1)
          expect(next.statusSince).toBeGreaterThanOrEqual(
            type === 'provision' ? 0 : record.statusSince,
          )
          expect(next.history.length).toBeLessThanOrEqual(MAX_HISTORY)
          expect(next.status === 'terminating').toBe(next.owed !== undefined)
          expect(next.status !== 'terminating' || next.kill !== undefined).toBe(true)
          const { created = 0, destroyed = 0 } = countsOf(next)
          expect(created - destroyed).toBe(next.status === 'terminated' ? 0 : 1)
          expect(countChanges(next, next)).toEqual([])
          expect(parseRecord(JSON.parse(JSON.stringify(next)), 'a')).toEqual(next)
          record = next
        }
      }),
    )
  })

  test('remembers the deadline of a start only until it has started', () => {
    const record = newRecord('a')
    expect(record.provisionDeadlineAt).toBeDefined()
    expect(applyEvent(record, events.started, 1).provisionDeadlineAt).toBeUndefined()
    expect(applyEvent(record, events.fail, 1).provisionDeadlineAt).toBeDefined()
  })
})

function tryNext(status: SandboxStatus, type: SandboxEventType): string {
  try {
    return nextStatus({ id: 'a', status }, type)
  } catch (error) {
    return FleetError.isInstance(error) ? error.code : 'another error'
  }
}

function tryApply(record: SandboxRecord, type: SandboxEventType, now: number) {
  try {
    return applyEvent(record, events[type], now)
  } catch {
    return undefined
  }
}
