import { TestSampler } from '@helix-agents/core/testing'
import fc from 'fast-check'
import { expect, test } from 'vitest'

const seeds = fc.integer({ min: 1, max: 2 ** 31 - 1 })
const itemLists = fc.array(fc.integer(), { maxLength: 50 }).map((list) => list.map((_, at) => at))
const samplerOf = (seed: number): TestSampler => new TestSampler({ HELIX_SEED: `${seed}` })

test('a sample has the wanted size and order, is never empty, and repeats with its seed', () => {
  const counts = fc.integer({ min: -1, max: 60 })
  fc.assert(
    fc.property(seeds, itemLists, counts, (seed, items, count) => {
      const picked = samplerOf(seed).pick('points', items, count)
      expect(picked).toHaveLength(Math.min(items.length, Math.max(1, count)))
      expect(picked).toEqual([...new Set(picked)].toSorted((a, b) => a - b))
      expect(samplerOf(seed).pick('points', items, count)).toEqual(picked)
    }),
  )
})

test('seeds and names give other samples, and each item is in some of them', () => {
  const items = Array.from({ length: 20 }, (_, at) => at)
  const pick = (seed: number, name: string) => samplerOf(seed).pick(name, items, 5)
  expect(pick(1, 'one')).not.toEqual(pick(2, 'one'))
  expect(pick(1, 'one')).not.toEqual(pick(1, 'two'))
  const seen = new Set(Array.from({ length: 100 }, (_, at) => pick(at + 1, 'one')).flat())
  expect(seen.size).toBe(items.length)
})

test('an exhaustive run takes everything', () => {
  const whole = new TestSampler({ HELIX_EXHAUSTIVE: '1' })
  expect([whole.size(200, 20), whole.pick('points', [1, 2, 3], 1)]).toEqual([200, [1, 2, 3]])
  const sampled = new TestSampler({})
  expect([sampled.size(200, 20), sampled.pick('points', [1, 2, 3], 1).length]).toEqual([20, 1])
})

test('seeds of sweeps are whole numbers above zero that differ by name', () => {
  fc.assert(
    fc.property(seeds, fc.string(), (seed, name) => {
      expect(samplerOf(seed).seedOf(name)).toBeGreaterThan(0)
      expect(Number.isInteger(samplerOf(seed).seedOf(name))).toBe(true)
    }),
  )
  expect(samplerOf(1).seedOf('one')).not.toBe(samplerOf(1).seedOf('two'))
})

test('without a seed each run has a new one', () => {
  expect(new TestSampler({}).seed).not.toBe(new TestSampler({}).seed)
})

test.each(['', '0', '-1', '1.5', 'seven', '2147483648'])('%j is no seed', (text) => {
  expect(() => new TestSampler({ HELIX_SEED: text })).toThrow(TypeError)
})
