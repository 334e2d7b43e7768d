// The log of a process that was killed, cut off at every place where a write may have ended.
import { TestSampler } from '@helix-agents/core/testing'
import { copyFileSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SqlStateStore, migrate } from '@helix-agents/store-sql'
import { SqliteDatabase } from '@helix-agents/store-sqlite'
import { expect, test } from 'vitest'
import { NOW, textsOf } from '../script.ts'
import { temporaryDirectory } from '../temporary-directory.ts'
import { spawnChild } from './child.ts'

const sampler = new TestSampler()

const HEADER_BYTES = 32
const FRAME_BYTES = 24 + 4096
/** Prime: the cuts fall on ever other places of a frame. */
const STRIDE_BYTES = 2039
const STEPS = 5

test('a torn log gives the state before a write, or the one after it', async () => {
  const directory = temporaryDirectory()
  const path = join(directory, 'killed.db')
  const child = spawnChild(['write', path, `${STEPS}`])
  expect(await child.next()).toBe('written')
  child.process.kill('SIGKILL')
  await child.exited

  const log = readFileSync(`${path}-wal`)
  const seen: number[] = []
  const lengths = sampler.pick('cuts', cuts(log.length), 60)
  for (const [index, length] of lengths.entries()) {
    const folder = join(directory, `${index}`)
    mkdirSync(folder)
    const copy = join(folder, 'copy.db')
    copyFileSync(path, copy)
    writeFileSync(`${copy}-wal`, log.subarray(0, length))
    seen.push(await stepsOf(copy))
  }
  // Longer logs never hold less; all of them show every state.
  expect(seen).toEqual(seen.toSorted((a, b) => a - b))
  const states = [-1, ...Array.from({ length: STEPS + 1 }).keys()]
  const missing = states.filter((state) => !seen.includes(state))
  expect(sampler.isExhaustive ? missing : []).toEqual([])
}, 120_000)

function cuts(length: number): number[] {
  const places = new Set([length])
  for (let end = HEADER_BYTES; end < length; end += FRAME_BYTES) {
    for (const place of [end - 1, end, end + 1]) places.add(place)
  }
  for (let place = 0; place < length; place += STRIDE_BYTES) places.add(place)
  return [...places].toSorted((a, b) => a - b)
}

/** Finished steps of the session, after a check that all of it agrees; -1 before it was made. */
async function stepsOf(path: string): Promise<number> {
  expect(statSync(path).isFile()).toBe(true)
  const database = await SqliteDatabase.open(path)
  try {
    await migrate(database, { now: NOW })
    const check = await database.read((sql) => sql.all('PRAGMA integrity_check'))
    expect(check.map((row) => row['integrity_check'])).toEqual(['ok'])
    const store = new SqlStateStore(database)
    const head = await store.loadSession('s')
    if (head === null) return -1
    const numbers = Array.from({ length: head.stepCount }, (_, index) => index + 1)
    expect(await textsOf(store, 's')).toEqual(numbers.map(String))
    expect(head.customState).toBe(head.stepCount)
    const { items } = await store.listCheckpoints('s')
    expect(items.map((item) => item.customState)).toEqual(numbers.toReversed())
    return head.stepCount
  } finally {
    await database.close()
  }
}
