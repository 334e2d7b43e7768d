import { expect, test } from 'vitest'
import { ReachedMutants } from './reached.ts'

test('a test has what is reached while it runs, the file what is reached otherwise', () => {
  const seen = new Set([1])
  const reached = new ReachedMutants(seen)
  reached.endLoading()
  reached.start('a')
  seen.add(2)
  expect(reached.end('a')).toEqual([2])
  seen.add(3)
  reached.start('b')
  expect(reached.end('b')).toEqual([])
  seen.add(4)
  expect(reached.outside).toEqual([3, 4])
  expect(reached.loaded).toEqual([1])
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

test('what is loaded for one file counts for the next, which does not load it again', () => {
  const seen = new Set([1])
  const reached = new ReachedMutants(seen)
  reached.endLoading()
  seen.add(2)
  reached.startFile()
  seen.add(3)
  reached.endLoading()
  expect(reached.loaded).toEqual([1, 3])
  expect(reached.outside).toEqual([])
})

test('what a test was the first to load counts as loaded for it and for later files', () => {
  const [seen, loaded] = [new Set<number>(), new Set<number>()]
  const reached = new ReachedMutants(seen, loaded)
  reached.endLoading()
  reached.start('a')
  loaded.add(1)
  seen.add(2)
  expect(reached.end('a')).toEqual([2])
  expect(reached.loaded).toEqual([1])
  reached.startFile()
  expect([reached.loaded, reached.outside]).toEqual([[1], []])
})
