// The small changes of a command are one transaction, and it does not notice.
import { TestSampler } from '@helix-agents/core/testing'
import type { CommandFiles, FileEntry, FileSystem } from '@helix-agents/core/provider'
import { expect, test } from 'vitest'
import { type BatchFixture, openBatch } from './batch-fixture.ts'
import { codeOf } from './code-of.ts'
import { inObject, openFiles } from './objects.ts'

const sampler = new TestSampler()

function withBatch(
  act: (fixture: BatchFixture) => Promise<void>,
  setup: Parameters<typeof openBatch>[1] = {},
): Promise<void> {
  return inObject(async (storage) => act(await openBatch(storage, setup)))
}

async function writeMany(files: CommandFiles, count: number): Promise<void> {
  await files.mkdir('/made/below', { recursive: true })
  for (let i = 0; i < count; i += 1) {
    await files.writeFile(`/made/f${i}`, '')
    await files.writeFile(`/made/f${i}`, `content ${i}\n`)
    await files.appendFile('/log', `${i}\n`)
  }
}

test('400 new files and 400 appends are one transaction, after the directories', () =>
  withBatch(async ({ batch, counts, fs }) => {
    await writeMany(batch.files, 400)
    expect(await codeOf(fs.stat('/log'))).toBe('not-found')
    const read = counts.statements.length
    counts.transactions = 0
    expect(await batch.commit()).toEqual([])
    expect(counts.transactions).toBe(1)
    // Two to four for a new file; the log is one append.
    expect(counts.statements.length - read).toBeLessThan(4 * 401)
    expect(await fs.ls('/made')).toHaveLength(401)
    expect(new TextDecoder().decode(await fs.readFile('/made/f7'))).toBe('content 7\n')
    expect((await fs.stat('/log')).size).toBe(
      Array.from({ length: 400 }, (_, i) => `${i}\n`).join('').length,
    )
  }))

test('1,000 appends to a file are one transaction of a few statements', () =>
  withBatch(async ({ batch, counts, fs }) => {
    await fs.writeFile('/log', 'before\n')
    counts.statements.length = 0
    for (let i = 0; i < 1000; i += 1) await batch.files.appendFile('/log', `${i}\n`)
    await batch.commit()
    expect(counts.statements.length).toBeLessThan(10)
    expect((await fs.stat('/log')).size).toBe(7 + 3890)
  }))

test('a file that is written, renamed over another or removed is seen as it will be', () =>
  withBatch(async ({ batch, counts, fs }) => {
    await fs.writeFile('/a', 'old')
    await batch.files.writeFile('/new', 'new')
    await batch.files.writeFile('/temporary', 'x')
    counts.transactions = 0
    await batch.files.move('/new', '/a', { overwrite: true })
    await batch.files.rm('/temporary')
    expect(new TextDecoder().decode(await batch.files.readFile('/a'))).toBe('new')
    expect((await batch.files.stat('/a')).size).toBe(3)
    expect([
      await codeOf(batch.files.stat('/new')),
      await codeOf(batch.files.stat('/temporary')),
    ]).toEqual(['not-found', 'not-found'])
    expect(new TextDecoder().decode(await fs.readFile('/a'))).toBe('old')
    await batch.commit()
    expect(await fs.ls('/')).toMatchObject([{ path: '/a', size: 3 }])
  }))

test('more than a transaction takes in time is several', () =>
  withBatch(async ({ batch, counts }) => {
    const block = new Uint8Array(60_000)
    counts.transactions = 0
    for (let i = 0; i < 100; i += 1) await batch.files.writeFile(`/b${i}`, block)
    await batch.commit()
    expect(counts.transactions).toBe(2)
  }))

test('a command that waits has what it wrote stored', () =>
  withBatch(async ({ batch, fs, clock }) => {
    await batch.files.writeFile('/a', 'written')
    await clock.advance(0)
    expect((await fs.stat('/a')).size).toBe(7)
    expect(await batch.commit()).toEqual([])
  }))

test('what is full or too large fails where it happens, and nothing else', () =>
  withBatch(
    async ({ batch, fs }) => {
      await batch.files.writeFile('/a', 'x'.repeat(600))
      expect(await codeOf(batch.files.writeFile('/b', 'x'.repeat(600)))).toBe('storage-full')
      expect(await codeOf(batch.files.appendFile('/a', 'x'.repeat(600)))).toBe('storage-full')
      await batch.files.writeFile('/c', 'small')
      expect(await codeOf(batch.files.writeFile('/d', ''))).toBe('storage-full')
      expect(await batch.commit()).toEqual([])
      expect((await fs.ls('/')).map(({ name }) => name)).toEqual(['a', 'c'])
    },
    { maxBytes: 1000, maxFiles: 2 },
  ))

test('what another writer made impossible is left out and named', () =>
  withBatch(async ({ batch, fs }) => {
    await batch.files.writeFile('/a', 'a')
    await batch.files.writeFile('/b', 'b')
    await fs.mkdir('/a')
    const rejected = await batch.commit()
    expect(rejected.map(({ path, error }) => [path, error.code])).toEqual([['/a', 'is-directory']])
    expect((await fs.stat('/b')).size).toBe(1)
  }))

test('files that were removed are lost', () =>
  withBatch(async ({ batch, ws }) => {
    await batch.files.writeFile('/a', 'a')
    await ws.close()
    expect(await codeOf(batch.commit())).toBe('lost')
    expect(await codeOf(batch.files.writeFile('/b', 'b'))).toBe('lost')
  }))

type Call = (files: CommandFiles) => Promise<unknown>

function randomCall(random: () => number): readonly [name: string, call: Call] {
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T
  const path = (): string => pick(['/a', '/b', '/d', '/d/a', '/d/b', '/d/e', '/d/e/a', '/a/x', '/'])
  const [at, to] = [path(), path()]
  const data = 'x'.repeat(pick([0, 1, 5, 70_000]))
  const isTrue = random() < 0.5
  return pick([
    [`write ${at} ${data.length}`, (it) => it.writeFile(at, data)],
    [`write ${at} ${data.length}`, (it) => it.writeFile(at, data)],
    [`append ${at}`, (it) => it.appendFile(at, data)],
    [`read ${at}`, async (it) => (await it.readFile(at)).length],
    [`stat ${at}`, async (it) => sizeAndType(await it.stat(at))],
    [`mkdir ${at} ${isTrue}`, (it) => it.mkdir(at, { recursive: isTrue })],
    [`rm ${at} ${isTrue}`, (it) => it.rm(at, { recursive: isTrue })],
    [`move ${at} ${to} ${isTrue}`, (it) => it.move(at, to, { overwrite: isTrue })],
    [`copy ${at} ${to} ${isTrue}`, (it) => it.copy(at, to, { overwrite: isTrue })],
    [`ls ${at}`, async (it) => (await it.ls(at)).map(sizeAndType)],
  ] as const)
}

type Entry = Pick<FileEntry, 'path' | 'type' | 'size'>

function sizeAndType({ path, type, size }: Entry): unknown {
  return { path, type, size }
}

async function outcomeOf(call: Call, files: CommandFiles): Promise<unknown> {
  try {
    const value = await call(files)
    return typeof value === 'object' && value !== null && 'version' in value ? 'stored' : value
  } catch (error) {
    return (error as { code?: string }).code
  }
}

async function treeOf(fs: FileSystem): Promise<unknown> {
  const paths = (await fs.glob('**/*', { includeDirectories: true } as never)).toSorted()
  return Promise.all(paths.map(async (path) => sizeAndType(await fs.stat(path))))
}

test.each(
  sampler.pick(
    'histories',
    Array.from({ length: 300 }, (_, i) => i),
    20,
  ),
)('history %i: every answer is that of files without a batch', (seed) =>
  withBatch(async ({ batch, fs, storage }) => {
    const random = sampler.random(`history ${seed}`)
    const other = await openFiles(storage, {}, 'other')
    const history: string[] = []
    for (let step = 0; step < 60; step += 1) {
      const [name, call] = randomCall(random)
      history.push(name)
      const answers = [await outcomeOf(call, batch.files), await outcomeOf(call, other)]
      expect({ history, answer: answers[0] }).toEqual({ history, answer: answers[1] })
      if (random() < 0.1) await batch.commit()
    }
    expect(await batch.commit()).toEqual([])
    expect(await treeOf(fs)).toEqual(await treeOf(other))
  }),
)
