// When a lease that has run out may be judged by the clock of this process.
import { ManualClock } from '@helix-agents/core/testing'
import { describe, expect, test } from 'vitest'
import type { SandboxRecord } from '../../src/ledger/sandbox-record.ts'
import { LeaseWatch } from '../../src/safety/lease-watch.ts'
import { newRecord } from '../store/store-samples.ts'

const PROOF_MS = 1000
const DOUBT_MS = 5000

function setup(proofMs = PROOF_MS) {
  const clock = new ManualClock()
  return { clock, watch: new LeaseWatch({ clock, proofMs, doubtMs: DOUBT_MS }) }
}

const record = newRecord('s')

function held(id: string, until = 1, generation = 1, holder = 'theirs'): SandboxRecord {
  return { ...record, id, generation, lease: { kind: 'owner', holder, until } }
}

describe('the lease of an owner', () => {
  test('is proven when it has not changed for its time', async () => {
    const { clock, watch } = setup()
    expect(watch.isProven(held('s'))).toBe(false)
    await clock.advance(PROOF_MS - 1)
    expect(watch.isProven(held('s'))).toBe(false)
    await clock.advance(1)
    expect(watch.isProven(held('s'))).toBe(true)
  })

  test.each([
    ['was renewed', held('s', 2)],
    ['is of another generation', held('s', 1, 2)],
  ])('that %s is watched anew, from then on', async (_, renewed) => {
    const { clock, watch } = setup()
    watch.isProven(held('s'))
    await clock.advance(PROOF_MS - 1)
    expect(watch.isProven(renewed)).toBe(false)
    await clock.advance(PROOF_MS - 1)
    expect(watch.isProven(renewed)).toBe(false)
    await clock.advance(1)
    expect(watch.isProven(renewed)).toBe(true)
  })

  test('of this process goes by this clock', () => {
    const { watch } = setup()
    watch.addOwn('ours')
    expect(watch.isProven(held('s', 1, 1, 'ours'))).toBe(true)
    expect(watch.isProven(held('s'))).toBe(false)
    watch.doubt()
    expect(watch.isProven(held('s', 1, 1, 'ours'))).toBe(true)
  })

  test('needs no proof where none is asked for, but for the time after a leap', async () => {
    const { clock, watch } = setup(0)
    expect(watch.isProven(held('s'))).toBe(true)
    watch.doubt()
    expect(watch.isProven(held('s'))).toBe(false)
    await clock.advance(DOUBT_MS)
    expect(watch.isProven(held('s'))).toBe(true)
  })

  test('is in doubt until the time of the last leap is over', async () => {
    const { clock, watch } = setup()
    watch.isProven(held('s'))
    await clock.advance(PROOF_MS)
    watch.doubt()
    await clock.advance(DOUBT_MS - 1)
    watch.doubt()
    await clock.advance(1)
    expect(watch.isProven(held('s'))).toBe(false)
    await clock.advance(DOUBT_MS - 2)
    expect(watch.isProven(held('s'))).toBe(false)
    await clock.advance(1)
    expect(watch.isProven(held('s'))).toBe(true)
  })
})

test('what no owner holds is proven', () => {
  const { watch } = setup()
  watch.doubt()
  expect(watch.isProven(record)).toBe(true)
  const lease = { kind: 'detached', holder: 'theirs', until: 1 } as const
  expect(watch.isProven({ ...record, lease })).toBe(true)
})

/** Watches so many leases until each is proven; one of them is renewed in between. */
function watched(count: number, again?: string) {
  const timers: (() => void)[] = []
  const setTimer = (_: number, onTime: () => void) => {
    timers.push(onTime)
    return () => {}
  }
  const options = { proofMs: PROOF_MS, doubtMs: DOUBT_MS }
  const watch = new LeaseWatch({ clock: { setTimer }, ...options })
  for (const id of ['first', 'second']) watch.isProven(held(id))
  if (again !== undefined) watch.isProven(held(again, 2))
  for (let index = 2; index < count; index += 1) watch.isProven(held(`s${index}`))
  for (const onTime of timers) onTime()
  return (id: string, until = 1): boolean => watch.isProven(held(id, until))
}

describe('of many leases', () => {
  test('10 000 are watched, beyond that the oldest anew', () => {
    const all = watched(10_000)
    expect([all('first'), all('second'), all('s9999')]).toEqual([true, true, true])
    const tooMany = watched(10_001)
    expect([tooMany('second'), tooMany('s10000')]).toEqual([true, true])
    expect(tooMany('first')).toBe(false)
  })

  test('the one that was renewed last is not the oldest', () => {
    const isProven = watched(10_001, 'first')
    expect(isProven('first', 2)).toBe(true)
    expect(isProven('second')).toBe(false)
  })
})
