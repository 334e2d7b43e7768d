import { expect, test, vi } from 'vitest'
import { inParallel } from '../../src/snapshot-store/in-parallel.ts'

const items = Array.from({ length: 20 }, (_, index) => `item ${index}`)

/** Longer than other work needs to run in between. */
async function fiveTurns(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}

test('every item is worked on once, with its index, at most eight at once', async () => {
  const worked: [string, number][] = []
  let [running, most] = [0, 0]
  await inParallel(items, async (item, index) => {
    running += 1
    most = Math.max(most, running)
    await fiveTurns()
    running -= 1
    worked.push([item, index])
  })
  expect(worked.toSorted(([, one], [, other]) => one - other)).toEqual(
    items.map((item, index) => [item, index]),
  )
  expect(most).toBe(8)
})

test('fewer run at once where it is asked for', async () => {
  let [running, most] = [0, 0]
  const work = async (): Promise<void> => {
    running += 1
    most = Math.max(most, running)
    await fiveTurns()
    running -= 1
  }
  await inParallel(items, work, { atOnce: 2 })
  expect(most).toBe(2)
})

test('the first failure starts nothing more, and waits for what runs', async () => {
  const started: string[] = []
  const other = Promise.withResolvers<void>()
  let isDone = false
  const all = inParallel(
    items,
    async (item) => {
      started.push(item)
      if (item === 'item 1') throw new Error('broken')
      await other.promise
      isDone = true
    },
    { atOnce: 2 },
  )
  setImmediate(() => other.resolve())
  await expect(all).rejects.toThrow('broken')
  expect([started, isDone]).toEqual([['item 0', 'item 1'], true])
})

test('nothing starts after an abort', async () => {
  const stop = new AbortController()
  const started: string[] = []
  const work = async (item: string): Promise<void> => {
    started.push(item)
    if (item === 'item 2') stop.abort('enough')
  }
  await expect(inParallel(items, work, { signal: stop.signal, atOnce: 1 })).rejects.toBe('enough')
  expect(started).toEqual(['item 0', 'item 1', 'item 2'])
})

test('on a clock that stands still other work runs after each 32 items', async () => {
  const now = vi.spyOn(performance, 'now').mockReturnValue(0)
  const startTurn = setImmediate
  let [waiting, pauses, early] = [0, 0, 0]
  vi.stubGlobal('setImmediate', (resume: () => void) => {
    pauses += 1
    waiting += 1
    startTurn(() => {
      waiting -= 1
      resume()
    })
  })
  try {
    const many = Array.from({ length: 96 }, (_, index) => index)
    const work = async (): Promise<void> => void (early += waiting)
    await inParallel(many, work, { atOnce: 1 })
    expect([pauses, early]).toEqual([3, 0])
  } finally {
    now.mockRestore()
    vi.unstubAllGlobals()
  }
})
