// Two handles for each of two sessions on one database, from providers of their own, evictions, and
// transactions that somebody rolls back around them: every result is as in memory.
import { FileSystemError } from '@helix-agents/core'
import type { FileSystem } from '@helix-agents/core/provider'
import { TestSampler } from '@helix-agents/core/testing'
import { InMemoryFileSystem } from '@helix-agents/workspace-memory'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { databaseFaults } from '../crash/audit.ts'
import { asNewIsolate, inObject, openFiles } from '../objects.ts'

const sampler = new TestSampler()

const MAX_BYTES = 120
const SESSIONS = ['one', 'other'] as const

/** What is done at once: it has happened when the call returns. */
type Act = (fs: FileSystem) => Promise<unknown>
interface Step {
  readonly name: string
  readonly act: Act
}

const step = (name: string, act: Act): Step => ({ name, act })
const paths = fc.constantFrom('/a', '/b', '/d', '/d/a', '/d/b', '/d/e/f', '/D', '/d%')
const data = fc.constantFrom(
  '',
  'x',
  'y',
  'short',
  'w\0z',
  'somewhat longer',
  '水'.repeat(9),
  'z'.repeat(50),
)

const sizeOf = async (work: Promise<{ readonly size: number }>): Promise<number> =>
  (await work).size

const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc
      .tuple(paths, data)
      .map(([path, text]) =>
        step(`write ${path} ${text}`, (fs) => sizeOf(fs.writeFile(path, text))),
      ),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(paths, data)
      .map(([path, text]) =>
        step(`add ${path}`, (fs) => sizeOf(fs.writeFile(path, text, { ifAbsent: true }))),
      ),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(paths, data)
      .map(([path, text]) => step(`append ${path}`, (fs) => sizeOf(fs.appendFile(path, text)))),
  },
  {
    weight: 5,
    arbitrary: paths.map((path) => step(`read ${path}`, async (fs) => fs.readText?.(path))),
  },
  {
    weight: 3,
    arbitrary: paths.map((path) =>
      step(`stat ${path}`, async (fs) => {
        const { type, size } = await fs.stat(path)
        return `${type} ${size}`
      }),
    ),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(paths, paths, fc.boolean())
      .map(([from, to, overwrite]) =>
        step(`move ${from} ${to}`, (fs) => fs.move(from, to, { overwrite })),
      ),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(paths, paths, fc.boolean())
      .map(([from, to, overwrite]) =>
        step(`copy ${from} ${to}`, (fs) => fs.copy(from, to, { overwrite })),
      ),
  },
  {
    weight: 3,
    arbitrary: paths.map((path) => step(`rm ${path}`, (fs) => fs.rm(path, { recursive: true }))),
  },
  { weight: 1, arbitrary: paths.map((path) => step(`mkdir ${path}`, (fs) => fs.mkdir(path))) },
)

interface Turn {
  /** Which handle. */
  readonly by: number
  readonly steps: readonly Step[]
  readonly end: 'kept' | 'rolled back' | 'evicted'
}

const turns: fc.Arbitrary<Turn> = fc.record({
  by: fc.nat(3),
  steps: fc.array(steps, { minLength: 1, maxLength: 3 }),
  end: fc.constantFrom('kept', 'kept', 'kept', 'rolled back', 'rolled back', 'evicted'),
})

async function outcomeOf(work: Promise<unknown>): Promise<unknown> {
  try {
    return await work
  } catch (error) {
    if (FileSystemError.isInstance(error)) return error.code
    throw error
  }
}

/** Does all of it inside a transaction that fails at its end. */
async function rollBack(storage: DurableObjectStorage, acts: readonly (() => Promise<unknown>)[]) {
  const started: Promise<unknown>[] = []
  expect(() =>
    storage.transactionSync(() => {
      for (const act of acts) started.push(outcomeOf(act()))
      throw new Error('rolled back')
    }),
  ).toThrow('rolled back')
  await Promise.all(started)
}

async function treeOf(fs: FileSystem): Promise<unknown> {
  const files = await fs.glob('**')
  const texts = files.map(async (path) => [path, await fs.readText?.(path)])
  return [await fs.ls('/'), await Promise.all(texts)]
}

interface Client {
  readonly fs: FileSystem
  readonly model: FileSystem
}

/** Handles of an isolate, two for each session. */
async function enter(
  storage: DurableObjectStorage,
  models: ReadonlyMap<string, FileSystem>,
): Promise<readonly Client[]> {
  const own = asNewIsolate(storage)
  const clients: Client[] = []
  for (const [id, model] of [...models, ...models]) {
    clients.push({ model, fs: await openFiles(own, { maxBytes: MAX_BYTES }, id) })
  }
  return clients
}

async function takeTurn(storage: DurableObjectStorage, client: Client, turn: Turn): Promise<void> {
  const { fs, model } = client
  if (turn.end === 'rolled back') {
    const acts = turn.steps.map(
      ({ act }) =>
        () =>
          act(fs),
    )
    return rollBack(storage, acts)
  }
  for (const { name, act } of turn.steps) {
    const wanted = await outcomeOf(act(model))
    const found = await outcomeOf(act(fs))
    // Where both forbid it, memory names its quota first.
    if (wanted === 'storage-full' && found === 'not-directory') continue
    expect([name, found]).toEqual([name, wanted])
  }
}

test('what is remembered is never wrong', { timeout: 120_000 }, async () => {
  const history = fc.array(turns, { minLength: 3, maxLength: 40, size: 'max' })
  const property = fc.asyncProperty(history, (all) =>
    inObject(async (storage) => {
      const models = new Map<string, FileSystem>()
      for (const id of SESSIONS) {
        models.set(id, new InMemoryFileSystem({ maxTotalBytes: MAX_BYTES }))
      }
      let clients = await enter(storage, models)
      for (const next of all) {
        const client = clients[next.by]
        if (client === undefined) throw new Error('there is no such client')
        await takeTurn(storage, client, next)
        if (next.end === 'evicted') clients = await enter(storage, models)
      }
      for (const { fs, model: wanted } of clients) {
        expect(await treeOf(fs)).toEqual(await treeOf(wanted))
      }
      expect(databaseFaults(storage)).toEqual([])
    }),
  )
  await fc.assert(property, { numRuns: sampler.size(150, 30), seed: sampler.seedOf('known files') })
})

test(
  'a version is never given to two states that could be seen',
  { timeout: 120_000 },
  async () => {
    const property = fc.asyncProperty(fc.array(turns, { minLength: 3, maxLength: 25 }), (all) =>
      inObject(async (storage) => {
        const handles = [
          await openFiles(storage),
          await openFiles(storage),
          await openFiles(asNewIsolate(storage)),
        ]
        const seen = new Map<string, string | undefined>()
        for (const { by, steps: acts } of all) {
          const fs = handles[by % handles.length]
          if (fs === undefined) throw new Error('there is no such handle')
          for (const { act } of acts) await outcomeOf(act(fs))
          for (const path of await fs.glob('**')) {
            const { version } = await fs.stat(path)
            const text = await fs.readText?.(path)
            const key = `${path} ${version}`
            expect(text).toBe(seen.get(key) ?? text)
            seen.set(key, text)
            for (const other of handles) expect((await other.stat(path)).version).toBe(version)
          }
        }
      }),
    )
    await fc.assert(property, { numRuns: sampler.size(40, 10), seed: sampler.seedOf('versions') })
  },
)
