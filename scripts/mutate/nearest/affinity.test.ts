import { expect, test } from 'vitest'
import { Affinity } from './affinity.ts'

const texts = new Map([
  ['a/src/launch.ts', 'beginRun(session)\nreleaseLease()'],
  ['a/test/starts.test.ts', 'a session whose lease is released'],
  ['a/test/tells.test.ts', 'the session of somebody'],
  ['a/test/all.test.ts', 'session lease released and everything else there ever was besides'],
  ['a/test/other.test.ts', 'session'],
  ['a/test/empty.test.ts', ''],
])
const tests = [...texts.keys()].filter((file) => file.endsWith('.test.ts'))
const affinity = new Affinity(tests, (file) => texts.get(file) ?? '')

function nearestTo(source: string): readonly string[] {
  return tests.toSorted((one, other) => affinity.of(source, other) - affinity.of(source, one))
}

test('a test that shares rare words is nearer than one that shares what all have', () => {
  const [nearest, next, ...others] = nearestTo('a/src/launch.ts')
  expect([nearest, next]).toEqual(['a/test/starts.test.ts', 'a/test/all.test.ts'])
  expect(others).toContain('a/test/other.test.ts')
})

test('words of names count, whatever their case', () => {
  const names = new Affinity(['x/shut-down.test.ts', 'x/other.test.ts'], () => '')
  expect(names.of('src/ShutThem.ts', 'x/shut-down.test.ts')).toBeGreaterThan(0)
  expect(names.of('src/ShutThem.ts', 'x/other.test.ts')).toBe(0)
})
