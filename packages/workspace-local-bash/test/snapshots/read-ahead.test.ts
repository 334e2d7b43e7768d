// A restore of so many files that a thread reads ahead of it.
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
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
