import { type ScheduledCall, scheduleToolCalls } from '@helix-agents/core/runtime'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'

const read = (orderKey?: string): ScheduledCall => call(true, orderKey)
const change = (orderKey?: string): ScheduledCall => call(false, orderKey)

function call(readOnly: boolean, orderKey?: string): ScheduledCall {
  return orderKey === undefined ? { readOnly } : { readOnly, orderKey }
}

test('reads wait for the change before them, a change for the reads before it', () => {
  const step = [read('a'), change('a'), read('a'), read('a'), change('a'), change('a')]
  expect(scheduleToolCalls(step)).toEqual([[], [0], [1], [1], [2, 3], [4]])
})

test('other keys, and no key, wait for nothing', () => {
  expect(scheduleToolCalls([change('a'), change('b'), read('c'), change()])).toEqual([
    [],
    [],
    [],
    [],
  ])
})

test('of two calls with one key of which one changes something, the earlier one is first', () => {
  const calls = fc.array(
    fc.record({ readOnly: fc.boolean(), orderKey: fc.constantFrom('a', 'b', 'c') }),
    { maxLength: 30 },
  )
  fc.assert(
    fc.property(calls, (step) => {
      const waitsFor = scheduleToolCalls(step)
      const before = waitsFor.map(() => new Set<number>())
      waitsFor.forEach((earlier, index) => {
        for (const one of earlier) {
          expect(one).toBeLessThan(index)
          before[index]!.add(one)
          for (const further of before[one]!) before[index]!.add(further)
        }
      })
      step.forEach((later, index) => {
        step.slice(0, index).forEach((earlier, position) => {
          const mustWait =
            earlier.orderKey === later.orderKey && !(earlier.readOnly && later.readOnly)
          const waits = before[index]!.has(position)
          expect(waits || !mustWait).toBe(true)
          expect(waits && earlier.orderKey !== later.orderKey).toBe(false)
        })
      })
    }),
  )
})
