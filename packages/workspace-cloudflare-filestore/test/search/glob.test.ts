import type { FileSystem } from '@helix-agents/core/provider'
import { TestSampler } from '@helix-agents/core/testing'
import { InMemoryFileSystem } from '@helix-agents/workspace-memory'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { inObject, openFiles } from '../objects.ts'

const sampler = new TestSampler()

const name = fc.constantFrom(
  'a',
  'a-b',
  'a.ts',
  'b.ts',
  'B',
  '水.ts',
  '😀',
  '\uFF5E',
  '.helix',
  '[x]',
  'x%.ts',
  'x_.TS',
  `long.${'e'.repeat(60)}`,
  `${'水'.repeat(20)}.ts`,
)
const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => `/${names.join('/')}`)
const pattern = fc.constantFrom(
  '**',
  '*',
  '*.ts',
  '**/*.ts',
  'a/**',
  'a/*.ts',
  '{a,a-b}/**/*',
  '?',
  '\\[x\\]',
  'a-b/**/[!x]*',
  '**/*.TS',
  '**/*%.ts',
  '**/*_.TS',
  '*x]',
  `**/*${'e'.repeat(49)}`,
  `**/*${'e'.repeat(50)}`,
  `a/**/*.${'e'.repeat(60)}`,
  `**/*${'水'.repeat(16)}.ts`,
  './a/**/*.ts',
  '**/*\uD800',
)

test('finds the same paths in the same order as in memory', { timeout: 120_000 }, async () => {
  const limit = fc.option(fc.nat(5), { nil: undefined })
  const property = fc.asyncProperty(
    fc.array(path, { maxLength: 15 }),
    fc.array(fc.tuple(pattern, limit), { minLength: 1, maxLength: 6 }),
    (paths, globs) =>
      inObject(async (storage) => {
        const real = await openFiles(storage)
        const model: FileSystem = new InMemoryFileSystem()
        for (const file of paths) {
          await Promise.allSettled([real.writeFile(file, 'x'), model.writeFile(file, 'x')])
        }
        for (const [glob, most] of globs) {
          const options = most === undefined ? {} : { limit: most }
          expect(await real.glob(glob, options)).toEqual(await model.glob(glob, options))
        }
      }),
  )
  await fc.assert(property, { numRuns: sampler.size(100, 30), seed: sampler.seedOf('globs') })
})

test('more files than a page', async () => {
  await inObject(async (storage) => {
    const fs = await openFiles(storage)
    const wanted: string[] = []
    for (let i = 0; i < 1_500; i += 1) wanted.push(`/d/${i % 7}/${String(i).padStart(4, '0')}`)
    for (const file of wanted) await fs.writeFile(file, 'x')
    expect(await fs.glob('**')).toEqual(wanted.toSorted())
    expect(await fs.glob('3/*', { path: '/d', limit: 2 })).toEqual(['/d/3/0003', '/d/3/0010'])
  })
})

test('more paths than one value holds', { timeout: 120_000 }, async () => {
  await inObject(async (storage) => {
    const fs = await openFiles(storage)
    const directory = `/${'d'.repeat(250)}/${'水'.repeat(80)}`
    const wanted: string[] = []
    for (let i = 0; i < 5_000; i += 1) wanted.push(`${directory}/${String(i).padStart(4, '0')}.ts`)
    for (const file of wanted) await fs.writeFile(file, 'x')
    await fs.writeFile(`${directory}/none.md`, 'x')
    expect(await fs.glob('**/*.ts')).toEqual(wanted)
    expect(await fs.ls(directory)).toHaveLength(5_001)
  })
})
