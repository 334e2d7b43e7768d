import { expect, test } from 'vitest'
import { ReachedMutants } from './reached.ts'

test('a test has what is reached while it runs, the file what is reached otherwise', () => {
  const seen = new Set([1])
  const reached = new ReachedMutants(seen)
  reached.start('a')
  seen.add(2)
  expect(reached.end('a')).toEqual([2])
  seen.add(3)
  reached.start('b')
  expect(reached.end('b')).toEqual([])
  seen.add(4)
  expect(reached.outside).toEqual([1, 3, 4])
})

test('tests that run at once share what is reached', () => {
  const seen = new Set<number>()
  const reached = new ReachedMutants(seen)
  reached.start('a')
  seen.add(1)
  reached.start('b')
  seen.add(2)
  expect(reached.end('b')).toEqual([2])
  expect(reached.end('a')).toEqual([1, 2])
})
