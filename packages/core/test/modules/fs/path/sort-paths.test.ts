import { compareCodePoints, sortByCodePoint } from '@helix-agents/core/provider'
import * as fc from 'fast-check'
import { expect, test, vi } from 'vitest'

test('sorts as a comparison of code points does, stably', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.string({ unit: fc.constantFrom('a', 'b', '/', '\uFFFD', '😀'), maxLength: 4 }), {
        maxLength: 400,
      }),
      async (keys) => {
        const items = keys.map((key, index) => ({ key, index }))
        const sorted = await sortByCodePoint(items, ({ key }) => key)
        expect(sorted).toEqual(items.toSorted((a, b) => compareCodePoints(a.key, b.key)))
      },
    ),
  )
})

test('keeps the order of equal keys, also where runs are merged', async () => {
  const items = Array.from({ length: 300 }, (_, index) => ({ key: `k${index % 2}`, index }))
  const sorted = await sortByCodePoint(items, ({ key }) => key)
  expect(sorted).toEqual(items.toSorted((a, b) => compareCodePoints(a.key, b.key)))
})

test('gives what is in order as a new array', async () => {
  const items = ['a', 'a', 'b']
  const sorted = await sortByCodePoint(items, (item) => item)
  expect(sorted).toEqual(items)
  expect(sorted).not.toBe(items)
  expect(await sortByCodePoint([], String)).toEqual([])
})

test('gives way to other work, also where the clock stands still, and hears an abort', async () => {
  vi.spyOn(performance, 'now').mockReturnValue(0)
  try {
    const items = Array.from({ length: 4_000 }, (_, i) => `${'p'.repeat(500)}${(i * 7919) % 4_000}`)
    let turns = 0
    const timer = setInterval(() => (turns += 1), 0)
    await sortByCodePoint(items, (item) => item)
    clearInterval(timer)
    expect(turns).toBeGreaterThan(2)
    const controller = new AbortController()
    setTimeout(() => controller.abort(new Error('stop')), 0)
    await expect(sortByCodePoint(items, (item) => item, controller.signal)).rejects.toThrow('stop')
  } finally {
    vi.restoreAllMocks()
  }
})
