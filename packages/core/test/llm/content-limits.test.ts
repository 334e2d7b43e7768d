import { describe, expect, test } from 'vitest'
import {
  ContentMeter,
  contentLimits,
  contentProblem,
  describeContentProblem,
  hasFewValues,
  isStorableId,
} from '../../src/llm/content-limits.ts'

const { maxArgumentFields, maxArgumentValues, maxCharacters, maxDepth, maxFileBytes } =
  contentLimits

const nested = (depth: number): unknown =>
  Array.from({ length: depth }).reduce<unknown>((inner) => [inner], 'x')

test('the limits', () => {
  expect(contentLimits).toEqual({
    maxDepth: 256,
    maxCharacters: 8_388_608,
    maxFileBytes: 33_554_432,
    maxIdCharacters: 1024,
    maxToolCalls: 1000,
    maxArgumentFields: 4096,
    maxArgumentValues: 65_536,
  })
  expect(Object.isFrozen(contentLimits)).toBe(true)
})

test.each([
  ['a text and its quotes', 'abc', 5],
  ['a number', 1, 6],
  ['a truth value', true, 6],
  ['null', null, 6],
  ['a list', ['ab', 1], 6 + 4 + 6],
  ['an object', { ab: 'c', d: {} }, 6 + 2 + 3 + 1 + 6],
  ['bytes', new Uint8Array(3), 24],
])('the size of %s', (_what, value, size) => {
  const meter = new ContentMeter()
  expect([meter.value(value), meter.characters]).toEqual([undefined, size])
})

test('texts, values and bytes are taken up to their limits', () => {
  const meter = new ContentMeter()
  expect(meter.text('x'.repeat(10))).toBeUndefined()
  expect(meter.value('x'.repeat(maxCharacters - 12))).toBeUndefined()
  expect(meter.characters).toBe(maxCharacters)
  expect(meter.text('x')).toBe('too-large')
  expect(meter.bytes(maxFileBytes - 1)).toBeUndefined()
  expect(meter.bytes(1)).toBeUndefined()
  expect(meter.bytes(1)).toBe('too-large')
  expect(new ContentMeter().value({ ['x'.repeat(maxCharacters)]: 1 })).toBe('too-large')
  expect(new ContentMeter().value(['x'.repeat(maxCharacters), 'never read'])).toBe('too-large')
})

test('values may be nested up to the limit, also around them', () => {
  expect(contentProblem(nested(maxDepth))).toBeUndefined()
  expect(contentProblem(nested(maxDepth + 1))).toBe('too-deep')
  expect(contentProblem(nested(maxDepth), 1)).toBe('too-deep')
  expect(contentProblem({ a: { b: nested(maxDepth - 2) } })).toBeUndefined()
  expect(contentProblem({ a: { b: nested(maxDepth - 1) } })).toBe('too-deep')
})

test('what is no JSON is told, whatever it does', () => {
  expect(contentProblem(1n)).toBe('not-json')
  expect(contentProblem([1n])).toBe('not-json')
  const hostile = Object.defineProperty({}, 'a', {
    enumerable: true,
    get: () => {
      throw new Error('no')
    },
  })
  expect(contentProblem(hostile)).toBe('not-json')
})

const fields = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [index, 1]))

describe('hasFewValues', () => {
  test('holds for few fields and few values', () => {
    expect(hasFewValues(fields(maxArgumentFields))).toBe(true)
    expect(hasFewValues(fields(maxArgumentFields + 1))).toBe(false)
    expect(hasFewValues({ inner: [fields(maxArgumentFields + 1)] })).toBe(false)
    expect(hasFewValues(Array(maxArgumentValues).fill(1))).toBe(true)
    expect(hasFewValues(Array(maxArgumentValues + 1).fill(1))).toBe(false)
    expect(hasFewValues([[...Array(maxArgumentValues - 1).fill(1)], 1])).toBe(false)
    expect(hasFewValues([Array(maxArgumentValues - 1).fill(1)])).toBe(true)
  })

  test('bytes and single values count as one', () => {
    expect(hasFewValues({ data: new Uint8Array(maxArgumentValues + 1) })).toBe(true)
    for (const value of ['text', 1, null, undefined]) expect(hasFewValues(value)).toBe(true)
  })
})

test('an id has at most 1,024 characters', () => {
  expect(isStorableId('x'.repeat(1024))).toBe(true)
  expect(isStorableId('x'.repeat(1025))).toBe(false)
  expect(isStorableId(1)).toBe(false)
})

test('problems in words', () => {
  expect(
    ['too-deep', 'not-json', 'too-large'].map((problem) =>
      describeContentProblem(problem as never),
    ),
  ).toEqual([
    'nested more than 256 levels deep',
    'no plain JSON',
    'larger than 8388608 characters of text or 33554432 bytes of files',
  ])
})
