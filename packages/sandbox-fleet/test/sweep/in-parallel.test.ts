import { expect, test } from 'vitest'
import { inParallel } from '../../src/sweep/in-parallel.ts'

/** Work that ends when a test says so, and what of it has begun. */
function gates(count: number) {
  const waiting = Array.from({ length: count }, () => Promise.withResolvers<void>())
  const begun: [item: string, index: number][] = []
  const work = (item: string, index: number): Promise<void> => {
    begun.push([item, index])
    return waiting[index]?.promise ?? Promise.resolve()
  }
  return { begun, waiting, work }
}

const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve()
}

test('so many items are worked on at once, in order, each with its index', async () => {
  const { begun, waiting, work } = gates(3)
  const done = inParallel(['a', 'b', 'c'], 2, work)
  await settled()
  expect(begun).toEqual([
    ['a', 0],
    ['b', 1],
  ])
  waiting[1]?.resolve()
  await settled()
  expect(begun[2]).toEqual(['c', 2])
  waiting[0]?.resolve()
  waiting[2]?.resolve()
  await done
  expect(begun).toHaveLength(3)
})

test('no item is work for nobody, and one is enough for all workers', async () => {
  const { begun, work } = gates(0)
  await inParallel([], 4, work)
  expect(begun).toEqual([])
  await inParallel(['a'], 4, work)
  expect(begun).toEqual([['a', 0]])
})

test('after an error none is begun, and it is thrown when those that were begun have ended', async () => {
  const { begun, waiting, work } = gates(3)
  let outcome = 'works'
  const done = inParallel(['a', 'b', 'c'], 2, work).catch((error: unknown) => {
    outcome = String(error)
  })
  waiting[0]?.reject('broken')
  await settled()
  expect(outcome).toBe('works')
  waiting[1]?.resolve()
  await done
  expect(outcome).toBe('broken')
  expect(begun).toHaveLength(2)
})
