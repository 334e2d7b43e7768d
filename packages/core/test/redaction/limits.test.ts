// How much of a value is written to a log: each limit, to the last item.
import { describe, expect, test } from 'vitest'
import { createRedaction } from '../../src/redaction/redaction.ts'

const { value } = createRedaction()
const many = (count: number): number[] => Array.from({ length: count }, (_, at) => at)
const nested = (depth: number): unknown => (depth === 0 ? 'end' : { a: nested(depth - 1) })

/** One value for the list, one for each list in it, and their items. */
const lists = (last: number): number[][] => [...many(24).map(() => many(200)), many(last)]
const copyOf = (last: number) => value(lists(last)) as unknown[][]

describe('of a value', () => {
  test('objects are written twelve deep', () => {
    expect(value(nested(12))).toEqual(nested(12))
    expect(JSON.stringify(value(nested(13)))).toBe(
      JSON.stringify(nested(12)).replace('"end"', '"[deep]"'),
    )
  })

  test.each<readonly [string, (count: number) => unknown, (copy: unknown) => unknown]>([
    ['a list', many, (copy) => (copy as unknown[]).at(-1)],
    ['a set', (count) => new Set(many(count)), (copy) => (copy as unknown[]).at(-1)],
    [
      'an object',
      (count) => Object.fromEntries(many(count).map((at) => [`k${at}`, at])),
      (copy) => Object.entries(copy as object).at(-1)?.[1],
    ],
    [
      'a map',
      (count) => new Map(many(count).map((at) => [at, at])),
      (copy) => Object.values(copy as object).at(-1),
    ],
  ])('200 items of %s are written, the others counted', (_, make, lastOf) => {
    expect(lastOf(value(make(200)))).toBe(199)
    expect(lastOf(value(make(201)))).toBe('[1 more]')
    expect(lastOf(value(make(203)))).toBe('[3 more]')
  })

  test('5,000 values are written in all', () => {
    expect(copyOf(174).at(-1)?.at(-1)).toBe(173)
    expect(copyOf(175).at(-1)?.slice(-2)).toEqual([173, '[more]'])
  })

  test('texts of 262,144 characters are written in all, each up to 32,768', () => {
    const text = 'x '.repeat(16_384)
    const eight = value([...many(8).map(() => text), 'left', 'out']) as string[]
    expect(eight.slice(0, 8).every((copy) => copy === text)).toBe(true)
    expect(eight.slice(8)).toEqual(['[4 more characters]', '[3 more characters]'])
    const less = value([...many(7).map(() => text), text.slice(1), 'left', 'out']) as string[]
    expect(less.slice(8)).toEqual(['left', '[3 more characters]'])
    expect(value(`${text}y`)).toBe(`${text}[1 more characters]`)
  })
})

const cut = (word: number): unknown =>
  value(`${'x'.repeat(32_768 - word - 1)} ${'y'.repeat(word + 1)}`)
const kept = (end: number): string => `${'x'.repeat(end - 1)} `

test('a cut text keeps no half of a word of up to 4,096 characters', () => {
  expect(cut(4095)).toBe(`${kept(28_673)}[4096 more characters]`)
  expect(cut(4096)).toBe(`${kept(28_672)}[4097 more characters]`)
  expect(cut(4097)).toBe(`${kept(28_671)}y[4097 more characters]`)
})

test('a name is written as it is up to 24 characters, a longer one as a text that may hold a secret', () => {
  const secret = 'sk-abcdefghijklmnopqrstuvwxyz0123456789'
  const [short, long] = [secret.slice(0, 24), secret.slice(0, 25)]
  expect(value({ [short]: 1 })).toEqual({ [short]: 1 })
  expect(value({ [long]: 1 })).not.toHaveProperty(long)
})
