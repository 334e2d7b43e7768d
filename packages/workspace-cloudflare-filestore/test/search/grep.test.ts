// What the database finds is what the engine of core finds in memory.
import { env } from 'cloudflare:workers'
import { FileSystemError } from '@helix-agents/core'
import type { FileSystem, GrepOptions } from '@helix-agents/core/provider'
import { TestSampler } from '@helix-agents/core/testing'
import { InMemoryFileSystem } from '@helix-agents/workspace-memory'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { countStatements } from '../counted-storage.ts'
import { asNewIsolate, inObject, openFiles } from '../objects.ts'
import type { FileStoreStorage } from '@helix-agents/workspace-cloudflare-filestore'
import type { ProviderSetup } from '../provider-harness.ts'

const sampler = new TestSampler()

const words = ['needle', 'NEEDLE', 'ne', 'edle', 'größe', 'Größe', '水', '\u212A', 'k', 's\u017F']
const pieces = fc.constantFrom(...words, '\uFFFD', '\n', '\r\n', ' ', '\0', '$', '(', '\uFEFF', 'é')
const text = fc.array(pieces, { maxLength: 30 }).map((list) => list.join(''))

/** A word across the end of a block, at every place it can have there. */
const acrossBlocks = fc
  .tuple(fc.constantFrom(...words), fc.integer({ min: -12, max: 2 }), text)
  .map(([word, shift, end]) => '-\n'.repeat(40_000).slice(0, 65_536 + shift) + word + end)

const bytes = fc.uint8Array({ maxLength: 20 })
const content = fc.oneof({ weight: 5, arbitrary: text }, bytes, acrossBlocks)

const names = fc.constantFrom(
  'a',
  'a-b',
  'a.txt',
  'b',
  'B',
  'a/c',
  'a/a',
  'a-b/c',
  '.helix/x',
  '水',
)
const tree = fc.dictionary(names, content, { maxKeys: 8 })

const patterns = fc.constantFrom(
  ...words,
  'ne+dle',
  '^needle$',
  'needle|größe',
  '[nN]eedle',
  '\\(',
  'x*',
  '-needle',
  '(',
  'e d',
)

const options: fc.Arbitrary<GrepOptions> = fc.record(
  {
    mode: fc.constantFrom('regex', 'literal'),
    ignoreCase: fc.boolean(),
    includeGlob: fc.constantFrom('*.txt', 'a*', 'a/**', '**/c'),
    context: fc.nat(2),
    maxResults: fc.nat(4),
    maxGrepFileSizeMb: fc.constantFrom(0.00001, 0.05, 1),
    path: fc.constantFrom('/', '/a', '/a-b', '/.helix', '/missing'),
  },
  { requiredKeys: [] },
)

async function searched(fs: FileSystem, pattern: string, search: GrepOptions): Promise<unknown> {
  try {
    return await fs.grep(pattern, search)
  } catch (error) {
    if (FileSystemError.isInstance(error)) return error.code
    throw error
  }
}

async function fill(fs: FileSystem, files: Readonly<Record<string, string | Uint8Array>>) {
  for (const [name, data] of Object.entries(files)) {
    await fs.writeFile(`/${name}`, data).catch((error: unknown) => {
      if (!FileSystemError.isInstance(error)) throw error
    })
  }
}

const setups: Readonly<Record<string, ProviderSetup>> = {
  'without a bucket': {},
  'with most files in a bucket': { r2: env.BUCKET, inlineThresholdBytes: 10 },
}

describe.each(Object.entries(setups))('%s', (_, setup) => {
  test('finds the same as in memory', { timeout: 120_000 }, async () => {
    const searches = fc.array(fc.tuple(patterns, options), { minLength: 1, maxLength: 8 })
    const property = fc.asyncProperty(tree, searches, (files, all) =>
      inObject(async (storage) => {
        const real = await openFiles(storage, setup)
        const model = new InMemoryFileSystem()
        await fill(real, files)
        await fill(model, files)
        for (const [pattern, search] of all) {
          const wanted = await searched(model, pattern, search)
          expect([pattern, await searched(real, pattern, search)]).toEqual([pattern, wanted])
        }
      }),
    )
    await fc.assert(property, { numRuns: sampler.size(100, 25), seed: sampler.seedOf('greps') })
  })
})

test('files without the literal never leave the database', async () => {
  await inObject(async (storage) => {
    const counted = countStatements(storage)
    const fs = await openFiles(counted.storage)
    for (let i = 0; i < 200; i += 1) await fs.writeFile(`/d/${i}`, `nothing here ${i}\n`)
    await fs.writeFile('/large', 'nothing here\n'.repeat(20_000))
    await fs.writeFile('/d/yes', 'the needle\n')
    counted.statements.length = 0
    const { matches } = await fs.grep('needle')
    expect(matches.map((match) => match.path)).toEqual(['/d/yes'])
    const reads = counted.statements.filter((it) => it.includes('helix_fs_blocks'))
    expect(reads.every((it) => it.includes('instr'))).toBe(true)
  })
})

test('no statement has more than 100 bound parameters', async () => {
  await inObject(async (storage) => {
    let most = 0
    const sql: (typeof storage)['sql'] = storage.sql
    const counting = {
      sql: {
        exec: (
          statement: string,
          ...bindings: (ArrayBuffer | string | number | null | Uint8Array)[]
        ) => {
          most = Math.max(most, bindings.length)
          return sql.exec(statement, ...bindings)
        },
      },
      transactionSync: <T>(work: () => T) => storage.transactionSync(work),
    }
    const fs = await openFiles(counting)
    for (let i = 0; i < 300; i += 1) await fs.writeFile(`/d/${i}`, 'needle\n')
    await fs.grep('needle')
    await fs.glob('**')
    await fs.copy('/d', '/e')
    await fs.rm('/', { recursive: true })
    expect(most).toBeLessThan(100)
  })
})

test('a search for U+FFFD finds invalid bytes, which only their text shows', async () => {
  await inObject(async (storage) => {
    const fs = await openFiles(storage)
    await fs.writeFile('/a', Uint8Array.of(0x61, 0xff, 0x62))
    expect((await fs.grep('\uFFFD')).matches).toEqual([
      { path: '/a', lineNumber: 1, line: 'a\uFFFDb' },
    ])
  })
})

test('files that change during a search are found where they had a match all the time', async () => {
  await inObject(async (storage) => {
    const setup = { r2: env.BUCKET, inlineThresholdBytes: 100_000 }
    const other = await openFiles(storage, setup)
    const word = 'needle\n'
    for (let i = 0; i < 120; i += 1) await other.writeFile(`/d/${i}`, word)
    // Between two batches of the search everything gets another content, which has it as well.
    let isChanged = false
    const exec: FileStoreStorage['sql']['exec'] = (statement, ...bindings) => {
      const rows = storage.sql.exec(statement, ...bindings).toArray()
      if (!isChanged && statement.includes('CAST(data AS TEXT)')) {
        isChanged = true
        replaceAll()
      }
      return { toArray: () => rows }
    }
    const replaceAll = (): void => {
      for (let i = 0; i < 120; i += 1) {
        // Removed and made again at once: another content, and no moment without the word.
        void other.rm(`/d/${i}`)
        void other.writeFile(`/d/${i}`, word + (i % 2 === 0 ? '' : 'x'.repeat(70_000)))
      }
    }
    const transactionSync = <T>(work: () => T): T => storage.transactionSync(work)
    const fs = await openFiles({ sql: { exec }, transactionSync }, setup)
    expect((await fs.grep('needle', { maxResults: 1000 })).matches).toHaveLength(120)
    expect(isChanged).toBe(true)
  })
})

test(
  'the text that the database makes is the text of the bytes',
  { timeout: 120_000 },
  async () => {
    const bom = [0xef, 0xbb, 0xbf]
    const part = fc.oneof(
      fc.uint8Array({ maxLength: 6 }).map((it) => [...it]),
      fc.constantFrom(
        bom,
        [0],
        [0xed, 0xa0, 0x80],
        [0xf0, 0x9f, 0x98],
        [0xc0, 0x80],
        [0xf4, 0x90, 0x80, 0x80],
      ),
    )
    const property = fc.asyncProperty(fc.array(part, { maxLength: 6 }), (parts) =>
      inObject(async (storage) => {
        const fs = await openFiles(storage)
        const written = Uint8Array.from(parts.flat())
        await fs.writeFile('/a', written)
        const fresh = await openFiles(asNewIsolate(storage))
        const wanted = new TextDecoder('utf-8', { fatal: false, ignoreBOM: true }).decode(written)
        expect(await fs.readText?.('/a')).toBe(wanted)
        expect(await fresh.readText?.('/a')).toBe(wanted)
        expect(await fs.readFile('/a')).toEqual(written)
      }),
    )
    await fc.assert(property, { numRuns: sampler.size(200, 40), seed: sampler.seedOf('literals') })
  },
)
