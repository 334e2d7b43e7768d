// A restore of so many files that a thread reads ahead of it.
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ReadAhead } from '../../src/snapshots/read-ahead/read-ahead.ts'
import { readVerified } from '../../src/snapshots/read-ahead/read-verified.ts'
import { payloadOf, SnapshotSubject } from './snapshot-subject.ts'

const FILES = 900

let subject: SnapshotSubject
beforeEach(async () => {
  subject = await SnapshotSubject.create()
})
afterEach(() => subject.host.dispose())

function fill(): void {
  for (let n = 0; n < FILES; n += 1) {
    const directory = join(subject.root, `d${n % 7}`)
    mkdirSync(directory, { recursive: true })
    // Some are empty, and some are equal.
    writeFileSync(join(directory, `f${n}`), n % 100 === 0 ? '' : `content ${n % 850}`)
  }
  writeFileSync(join(subject.root, 'large'), Buffer.alloc(3 * 1024 ** 2, 'x'))
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')

async function blockOf(path: string) {
  const taken = await subject.ws.snapshot.snapshot()
  const { entries } = await subject.manifestOf(taken)
  const entry = entries.find((one) => one.path === path)
  const [hash = ''] = entry?.type === 'file' ? entry.blocks : []
  const [file = ''] = subject.blocks.filter((one) => one.replace('/', '').endsWith(hash.slice(2)))
  return { taken, file }
}

describe('a restore that a thread reads ahead of', () => {
  it('has every file as it was', async () => {
    fill()
    const taken = await subject.ws.snapshot.snapshot()
    const copies = [await subject.restored(taken), await subject.restored(taken)]
    const { digest } = payloadOf(taken)
    for (const copy of copies) {
      const { ws } = await subject.host.resolve(await subject.ws.snapshot.restore(taken))
      expect(payloadOf(await ws.snapshot.snapshot()).digest).toBe(digest)
      expect(readFileSync(join(copy, 'd0/f7'), 'utf8')).toBe('content 7')
    }
  })

  it.each([
    ['corrupt', (file: string) => writeFileSync(file, 'CONTENT 849')],
    ['missing-blocks', (file: string) => rmSync(file)],
    [
      'corrupt',
      (file: string) => {
        writeFileSync(`${file}.copy`, readFileSync(file))
        rmSync(file)
        symlinkSync(`${file}.copy`, file)
      },
    ],
  ])('is %s for one block that is not as it was, and leaves nothing', async (code, damage) => {
    fill()
    const { taken, file } = await blockOf('/d2/f849')
    const before = subject.workspaces
    damage(file)
    await expect(subject.ws.snapshot.restore(taken)).rejects.toMatchObject({ code })
    expect(subject.workspaces).toEqual(before)
  })

  it('ends when it is aborted, and the next one works', async () => {
    fill()
    const taken = await subject.ws.snapshot.snapshot()
    const aborted = new AbortController()
    const restore = subject.ws.snapshot.restore(taken, { signal: aborted.signal })
    setImmediate(() => aborted.abort())
    await expect(restore).rejects.toThrow('aborted')
    expect(readFileSync(join(await subject.restored(taken), 'd1/f1'), 'utf8')).toBe('content 1')
  })
})

function store(text: string, hash = hashOf(text)): string {
  const directory = join(subject.host.tmpdirRoot, 'blocks')
  mkdirSync(join(directory, hash.slice(0, 2)), { recursive: true })
  writeFileSync(join(directory, hash.slice(0, 2), hash.slice(2)), text)
  return directory
}

describe('what is read ahead', () => {
  it('is one block behind the other', () => {
    store('first')
    const directory = store('second')
    const hashes = [hashOf('first'), hashOf('second')]
    const bytes = readVerified({ directory, hashes, lengths: [5, 6] })
    expect(Buffer.from(bytes ?? []).toString()).toBe('firstsecond')
  })

  it.each([
    ['damaged', () => store('other', hashOf('text'))],
    ['shorter', () => store('tex', hashOf('text'))],
    ['missing', () => store('another')],
  ])('is nothing when a block is %s', (_, prepare) => {
    const batch = { directory: prepare(), hashes: [hashOf('text')], lengths: [4] }
    expect(readVerified(batch)).toBeUndefined()
  })

  it('is nothing for what is no hash', () => {
    const directory = store('text')
    const batch = { directory, hashes: [`../${hashOf('text').slice(3)}`], lengths: [4] }
    expect(readVerified(batch)).toBeUndefined()
  })

  it('is each batch once, from the thread or left to the restore', async () => {
    const texts = Array.from({ length: 200 }, (_, n) => `text ${n}`)
    const directory = texts.map((text) => store(text))[0] ?? ''
    const batches = texts.map((text) => ({ hashes: [hashOf(text)], lengths: [text.length] }))
    // The thread may take its time to start: the restore does not wait for it.
    const read: [text: string, bytes: Uint8Array | undefined][] = []
    while (read.length === 0) {
      const ahead = new ReadAhead(directory, batches)
      const given: number[] = []
      for (let next = await ahead.next(); next !== undefined; next = await ahead.next()) {
        given.push(next.index)
        const text = texts[next.index] ?? ''
        if (next.blocks !== undefined) read.push([text, next.blocks.get(hashOf(text))])
      }
      ahead.close()
      expect(given.toSorted((a, b) => a - b)).toEqual([...texts.keys()])
    }
    for (const [text, bytes] of read) expect(Buffer.from(bytes ?? []).toString()).toBe(text)
  })

  it('leaves a batch to the restore of which the thread cannot read a block', async () => {
    const directory = store('text')
    const bad = { hashes: [hashOf('text'), hashOf('missing')], lengths: [4, 7] }
    const ahead = new ReadAhead(directory, [bad, bad, bad])
    const given = [await ahead.next(), await ahead.next(), await ahead.next(), await ahead.next()]
    ahead.close()
    expect(given.map((next) => next?.blocks)).toEqual([undefined, undefined, undefined, undefined])
    expect(new Set(given.map((next) => next?.index))).toEqual(new Set([0, 1, 2, undefined]))
  })
})
