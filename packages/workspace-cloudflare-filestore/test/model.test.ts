// Random histories on the file store and on files in memory end the same, also across evictions.
import { env } from 'cloudflare:workers'
import { FileSystemError } from '@helix-agents/core'
import type { FileSystem } from '@helix-agents/core/provider'
import { TestSampler } from '@helix-agents/core/testing'
import type { FileStoreStorage } from '@helix-agents/workspace-cloudflare-filestore'
import { InMemoryFileSystem } from '@helix-agents/workspace-memory'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { asNewIsolate, inObject, openFiles } from './objects.ts'
import type { ProviderSetup } from './provider-harness.ts'

const sampler = new TestSampler()

const paths = fc.constantFrom(
  '/a',
  '/b',
  '/d',
  '/d/a',
  '/d/b',
  '/d/e/c',
  '/d-x',
  '/d0',
  '/e',
  '/e/f',
)

/** Around the ends of blocks, with characters of several bytes on them. */
const contents = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.uint8Array({ maxLength: 12 }),
  fc.constantFrom('', 'x\0y', 'grün\nwort\n', 'a'.repeat(65_535), 'a'.repeat(65_536)),
  fc.constantFrom(`${'a'.repeat(65_535)}ü`, '水'.repeat(50_000), 'ab\n'.repeat(70_000)),
)

type Step = (fs: FileSystem) => Promise<unknown>
type Action = { readonly name: string; readonly run: Step } | 'evict'

const textOf = async (fs: FileSystem, path: string): Promise<string> =>
  new TextDecoder().decode(await fs.readFile(path))

const act = (name: string, run: Step): Action => ({ name, run })

const write = fc
  .tuple(paths, contents, fc.constantFrom('any', 'absent', 'current', 'stale'))
  .map(([path, data, condition]) =>
    act(`write ${path} ${condition}`, async (fs) => {
      if (condition === 'any') return (await fs.writeFile(path, data)).size
      if (condition === 'absent') return (await fs.writeFile(path, data, { ifAbsent: true })).size
      const { version } = await fs.stat(path)
      if (condition === 'stale') await fs.writeFile(path, 'changed')
      return (await fs.writeFile(path, data, { ifVersion: version })).size
    }),
  )

const edit = fc
  .tuple(paths, fc.double({ min: 0, max: 1, noNaN: true }), fc.nat(80_000), contents)
  .map(([path, place, removed, inserted]) =>
    act(`edit ${path}`, async (fs) => {
      const before = await textOf(fs, path)
      const at = Math.floor(before.length * place)
      const middle = typeof inserted === 'string' ? inserted : `${inserted.length}`
      return fs
        .writeFile(path, before.slice(0, at) + middle + before.slice(at + removed))
        .then(({ size }) => size)
    }),
  )

const stream = fc.tuple(paths, fc.array(contents, { maxLength: 4 })).map(([path, pieces]) =>
  act(`stream ${path}`, async (fs) => {
    const encoder = new TextEncoder()
    const bytes = pieces.map((it) => (typeof it === 'string' ? encoder.encode(it) : it))
    const source = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const piece of bytes) controller.enqueue(piece)
        controller.close()
      },
    })
    return (await fs.writeStream(path, source)).size
  }),
)

const pair = fc.tuple(paths, paths, fc.boolean())
const actions: fc.Arbitrary<Action> = fc.oneof(
  { weight: 4, arbitrary: write },
  { weight: 3, arbitrary: edit },
  { weight: 2, arbitrary: stream },
  {
    weight: 4,
    arbitrary: fc
      .tuple(paths, contents)
      .map(([path, data]) =>
        act(`append ${path}`, async (fs) => (await fs.appendFile(path, data)).size),
      ),
  },
  {
    weight: 3,
    arbitrary: pair.map(([from, to, overwrite]) =>
      act(`copy ${from} ${to}`, (fs) => fs.copy(from, to, { overwrite })),
    ),
  },
  {
    weight: 3,
    arbitrary: pair.map(([from, to, overwrite]) =>
      act(`move ${from} ${to}`, (fs) => fs.move(from, to, { overwrite })),
    ),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(paths, fc.boolean())
      .map(([path, recursive]) => act(`rm ${path}`, (fs) => fs.rm(path, { recursive }))),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(paths, fc.boolean())
      .map(([path, recursive]) => act(`mkdir ${path}`, (fs) => fs.mkdir(path, { recursive }))),
  },
  { weight: 1, arbitrary: fc.constant('evict' as const) },
)

/** What a step gives: its result, or its code. */
async function outcomeOf(fs: FileSystem, run: Step): Promise<unknown> {
  try {
    return await run(fs)
  } catch (error) {
    if (FileSystemError.isInstance(error)) return error.code
    throw error
  }
}

/** Every path with its type, size and a sum of its bytes. */
async function treeOf(fs: FileSystem, directory = '/'): Promise<string[]> {
  const lines: string[] = []
  for (const entry of await fs.ls(directory)) {
    lines.push(`${entry.type} ${entry.path} ${entry.size ?? ''}`)
    if (entry.type === 'directory') lines.push(...(await treeOf(fs, entry.path)))
    else lines.push(`${sumOf(await fs.readFile(entry.path))} ${await textSum(fs, entry.path)}`)
  }
  return lines
}

function sumOf(bytes: Uint8Array): number {
  return bytes.reduce((sum, byte, index) => (sum * 31 + byte + index) % 1_000_003, bytes.length)
}

async function textSum(fs: FileSystem, path: string): Promise<number> {
  return sumOf(new TextEncoder().encode((await fs.readText?.(path)) ?? 'none'))
}

/** Bytes and files as counted along, and as counted now. */
function counts(storage: FileStoreStorage): readonly unknown[] {
  return storage.sql
    .exec(
      `SELECT s.bytes, s.files, (SELECT coalesce(sum(size), 0) FROM helix_fs_nodes) AS real_bytes,
        (SELECT count(*) FROM helix_fs_nodes) AS real_files FROM helix_fs_namespaces s`,
    )
    .toArray()
    .map((row) => [row.bytes === row.real_bytes, row.files === row.real_files])
}

/** Blocks, shares and loose contents that belong to no file. */
function strays(storage: FileStoreStorage): unknown {
  const [row] = storage.sql
    .exec(
      `SELECT
        (SELECT count(*) FROM helix_fs_blocks b WHERE NOT EXISTS (
          SELECT 1 FROM helix_fs_nodes n
          WHERE b.id >= n.content AND b.id < n.content + n.blocks)) AS blocks,
        (SELECT coalesce(sum(blocks), 0) FROM (
          SELECT DISTINCT content, blocks FROM helix_fs_nodes)) -
          (SELECT count(*) FROM helix_fs_blocks) AS missing,
        (SELECT count(*) FROM helix_fs_unlinked) AS loose,
        (SELECT count(*) FROM helix_fs_shares s WHERE refs <> (
          SELECT count(*) FROM helix_fs_nodes n WHERE n.content = s.content)) AS shares,
        (SELECT count(*) FROM helix_fs_objects o WHERE refs <> (
          SELECT count(*) FROM helix_fs_blocks b WHERE b.object = o.id)) AS objects`,
    )
    .toArray()
  return row
}

const none = { blocks: 0, missing: 0, loose: 0, shares: 0, objects: 0 }

const setups: Readonly<Record<string, ProviderSetup>> = {
  'without a bucket': {},
  'with most files in a bucket': { r2: env.BUCKET, inlineThresholdBytes: 100 },
}

describe.each(Object.entries(setups))('%s', (_, setup) => {
  test('every history ends as in memory', { timeout: 120_000 }, async () => {
    const history = fc.array(actions, { minLength: 1, maxLength: 25, size: 'max' })
    const property = fc.asyncProperty(history, (steps) =>
      inObject(async (storage) => {
        const model: FileSystem = new InMemoryFileSystem()
        let files = await openFiles(storage, setup)
        const seen: [real: string, wanted: string][] = []
        for (const step of steps) {
          if (step === 'evict') files = await openFiles(asNewIsolate(storage), setup)
          else {
            const real = await outcomeOf(files, step.run)
            const wanted = await outcomeOf(model, step.run)
            seen.push([`${step.name}: ${String(real)}`, `${step.name}: ${String(wanted)}`])
          }
        }
        expect(seen.map(([real]) => real)).toEqual(seen.map(([, wanted]) => wanted))
        expect(await treeOf(files)).toEqual(await treeOf(model))
        expect(await files.glob('**/*')).toEqual(await model.glob('**/*'))
        expect(counts(storage)).toEqual([[true, true]])
        expect(strays(storage)).toEqual(none)
      }),
    )
    await fc.assert(property, { numRuns: sampler.size(100, 20), seed: sampler.seedOf('histories') })
  })
})
