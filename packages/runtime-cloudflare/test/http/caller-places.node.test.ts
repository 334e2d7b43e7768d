import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hasPlace } from '../../src/http/caller-places.ts'
import type { Caller } from '../../src/route/caller.ts'
import { assertSocketPlace } from '../../src/socket/socket-places.ts'

const callers: fc.Arbitrary<Caller> = fc.record(
  { userId: fc.constantFrom('ann', 'ben', 'cy'), isReadOnly: fc.boolean() },
  { requiredKeys: [] },
)

/** Everybody comes in turn and nobody leaves. */
function seat(arriving: readonly Caller[], max: number): readonly Caller[] {
  const taken: Caller[] = []
  for (const caller of arriving) if (hasPlace(taken, caller, max)) taken.push(caller)
  return taken
}

test('whoever reads only never locks out a writer, and no user has more than half', () => {
  const arriving = fc.array(callers, { maxLength: 60 })
  fc.assert(
    fc.property(arriving, fc.integer({ min: 4, max: 20 }), (all, max) => {
      const taken = seat(all, max)
      expect(taken.length).toBeLessThanOrEqual(max)
      for (const userId of ['ann', 'ben', 'cy']) {
        const own = taken.filter((caller) => caller.userId === userId)
        expect(own.length).toBeLessThanOrEqual(Math.ceil(max / 2))
      }
      const readers = seat(
        all.map((caller) => ({ ...caller, isReadOnly: true })),
        max,
      )
      expect(hasPlace(readers, { userId: 'owner' }, max)).toBe(true)
    }),
  )
})

test('one place is for whoever comes first', () => {
  expect(hasPlace([], { isReadOnly: true }, 1)).toBe(true)
  expect(hasPlace([{}], { userId: 'ann' }, 1)).toBe(false)
})

const sockets = (count: number, own: readonly Caller[] = []) => ({ count, callers: own })

test('a socket has a place while there are fewer than the limit, those of a subclass too', () => {
  const [ada, reader] = [{ userId: 'ada' }, { isReadOnly: true }]
  expect(() => assertSocketPlace(sockets(3), {}, 4)).not.toThrow()
  expect(() => assertSocketPlace(sockets(3, [ada]), ada, 4)).not.toThrow()
  for (const [open, caller] of [
    [sockets(4), {}],
    [sockets(2, [ada, ada]), ada],
    [sockets(3, [reader, reader, reader]), reader],
    [sockets(0, [{}, {}, {}, {}]), {}],
  ] as const) {
    expect(() => assertSocketPlace(open, caller, 4)).toThrow(
      expect.objectContaining({
        status: 429,
        code: 'too-many-sockets',
        message: 'the session has too many WebSockets, in all or of this caller: 4',
      }),
    )
  }
})
