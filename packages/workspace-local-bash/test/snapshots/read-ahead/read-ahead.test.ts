import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it, vi } from 'vitest'
import { blockReader } from '../../../src/snapshots/read-ahead/block-reader.ts'
import { type NextBatch, ReadAhead } from '../../../src/snapshots/read-ahead/read-ahead.ts'
import { useDirectory } from '../store/store-fixture.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

const directory = useDirectory()
const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')
/** Two blocks that are stored. */
function batchOf(...texts: readonly string[]) {
  for (const text of texts) {
    const hash = hashOf(text)
    mkdirSync(join(directory(), hash.slice(0, 2)), { recursive: true })
    writeFileSync(join(directory(), hash.slice(0, 2), hash.slice(2)), text)
  }
  return { hashes: texts.map(hashOf), lengths: texts.map(({ length }) => length) }
}
const textsOf = ({ blocks }: NextBatch): readonly string[] | undefined =>
  blocks && [...blocks.values()].map((bytes) => Buffer.from(bytes).toString())
async function all(ahead: ReadAhead): Promise<NextBatch[]> {
  const given: NextBatch[] = []
  for (let next = await ahead.next(); next !== undefined; next = await ahead.next())
    given.push(next)
  ahead.close()
  return given
}
describe('batches of blocks', () => {
  it('are given once each, as the thread has read them or left to the caller', async () => {
    const names = Array.from({ length: 40 }, (_, n) => `text ${n}`)
    const batches = names.map((name) => batchOf(name, `${name} more`))
    // A thread may take its time to start: the restore does not wait for it.
    let read: NextBatch[] = []
    while (read.length === 0) {
      const given = await all(new ReadAhead(directory(), batches))
      expect(given.map(({ index }) => index).toSorted((a, b) => a - b)).toEqual([...names.keys()])
      read = given.filter(({ blocks }) => blocks !== undefined)
    }
    for (const next of read) {
      const name = names[next.index]
      expect(textsOf(next)).toEqual([name, `${name} more`])
      expect([...(next.blocks?.keys() ?? [])]).toEqual(batches[next.index]?.hashes)
    }
  })
  it('of which the thread cannot read a block are left to the caller', async () => {
    const bad = { hashes: [...batchOf('text').hashes, hashOf('missing')], lengths: [4, 7] }
    const given = await all(new ReadAhead(directory(), [bad, bad, bad]))
    expect(given.map(({ index }) => index).toSorted((a, b) => a - b)).toEqual([0, 1, 2])
    expect(given.every(({ blocks }) => blocks === undefined)).toBe(true)
  })
  it('keep the process alive until they are given or nobody wants them', async () => {
    const [use, leave] = [vi.spyOn(blockReader(), 'use'), vi.spyOn(blockReader(), 'leave')]
    const ahead = new ReadAhead(directory(), [batchOf('text')])
    expect([use.mock.calls.length, leave.mock.calls.length]).toEqual([1, 0])
    await ahead.next()
    ahead.close()
    expect([use.mock.calls.length, leave.mock.calls.length]).toEqual([1, 1])
  })
  it('are asked for four ahead', async () => {
    const ask = vi.spyOn(blockReader(), 'ask')
    const batches = Array.from({ length: 9 }, (_, n) => batchOf(`ahead ${n}`))
    const ahead = new ReadAhead(directory(), batches)
    const next = ahead.next()
    expect(ask).toHaveBeenCalledTimes(4)
    await next
    ahead.close()
  })
  it('that the thread has not begun are forgotten with those that ask for them', async () => {
    const forget = vi.fn<() => void>()
    vi.spyOn(blockReader(), 'ask').mockReturnValue(forget)
    const batches = Array.from({ length: 6 }, (_, n) => batchOf(`not begun ${n}`))
    expect(await all(new ReadAhead(directory(), batches))).toHaveLength(6)
    expect(forget).toHaveBeenCalledTimes(6)
  })
  it('are none of none', async () => {
    expect(await all(new ReadAhead(directory(), []))).toEqual([])
  })
  it('that nobody waits for any more are left', async () => {
    const batches = Array.from({ length: 9 }, (_, n) => batchOf(`left ${n}`))
    const ahead = new ReadAhead(directory(), batches)
    expect((await ahead.next())?.index).toBeGreaterThanOrEqual(0)
    ahead.close()
    const given = await all(new ReadAhead(directory(), batches))
    expect(given).toHaveLength(9)
  })
})

const ask = (index: number, claims: SharedArrayBuffer) =>
  new Promise<Uint8Array | undefined>((resolve) => {
    const batch = { ...batchOf('text'), directory: directory(), claims, index }
    blockReader().ask(batch, resolve)
  })

describe('the thread', () => {
  it('is one, and answers each batch that none has claimed', async () => {
    const reader = blockReader()
    expect(blockReader()).toBe(reader)
    reader.use()
    const claims = new SharedArrayBuffer(8)
    const bytes = await ask(1, claims)
    expect(Buffer.from(bytes ?? []).toString()).toBe('text')
    expect([...new Int32Array(claims)]).toEqual([0, 1])
    let isAnswered = false
    const forget = reader.ask(
      { ...batchOf('text'), directory: directory(), claims, index: 1 },
      () => (isAnswered = true),
    )
    await ask(0, claims)
    expect(isAnswered).toBe(false)
    forget()
    reader.leave()
  })
  it('holds none that it has answered', async () => {
    const reader = blockReader()
    reader.use()
    const claims = new SharedArrayBuffer(8)
    const askOnce = async (): Promise<WeakRef<object>> => {
      const { promise, resolve } = Promise.withResolvers<void>()
      const onAnswer = (): void => resolve()
      reader.ask({ ...batchOf('text'), directory: directory(), claims, index: 0 }, onAnswer)
      await promise
      return new WeakRef(onAnswer)
    }
    const callback = await askOnce()
    await ask(1, claims)
    collectGarbage()
    expect(callback.deref()).toBeUndefined()
    reader.leave()
  })
  it('answers none that was forgotten', async () => {
    const reader = blockReader()
    reader.use()
    const claims = new SharedArrayBuffer(8)
    let isAnswered = false
    reader.ask(
      { ...batchOf('text'), directory: directory(), claims, index: 0 },
      () => (isAnswered = true),
    )()
    await ask(1, claims)
    expect(isAnswered).toBe(false)
    reader.leave()
  })
})
