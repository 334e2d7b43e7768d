// A version names one content of one path, for ever.
import type { FileSystem } from '@helix-agents/core/provider'
import { TestSampler } from '@helix-agents/core/testing'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { asNewIsolate, inObject, openFiles } from './objects.ts'

const sampler = new TestSampler()

const path = fc.constantFrom('/a', '/b', '/d/a', '/d/b', '/e/a', '/e/b')
const directory = fc.constantFrom('/d', '/e', '/f')
type Step = (fs: FileSystem) => Promise<unknown>
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.tuple(path, fc.nat(3)).map(
    ([at, content]): Step =>
      (fs) =>
        fs.writeFile(at, `${content}`),
  ),
  fc.tuple(path, fc.nat(3)).map(
    ([at, content]): Step =>
      (fs) =>
        fs.appendFile(at, `${content}`),
  ),
  fc.tuple(fc.oneof(path, directory), fc.oneof(path, directory)).map(
    ([from, to]): Step =>
      (fs) =>
        fs.move(from, to, { overwrite: true }),
  ),
  fc.tuple(fc.oneof(path, directory), fc.oneof(path, directory)).map(
    ([from, to]): Step =>
      (fs) =>
        fs.copy(from, to, { overwrite: true }),
  ),
  fc.oneof(path, directory).map(
    (at): Step =>
      (fs) =>
        fs.rm(at, { recursive: true }),
  ),
)

test('equal versions of a path are equal contents', { timeout: 120_000 }, async () => {
  const property = fc.asyncProperty(fc.array(step, { maxLength: 40, size: 'max' }), (steps) =>
    inObject(async (storage) => {
      const contents = new Map<string, string>()
      for (const run of steps) {
        const fs = await openFiles(asNewIsolate(storage))
        await run(fs).catch(() => undefined)
        for (const file of await fs.glob('**')) {
          const key = `${file} ${(await fs.stat(file)).version}`
          const content = (await fs.readText?.(file)) ?? ''
          expect(contents.get(key) ?? content).toBe(content)
          contents.set(key, content)
        }
      }
    }),
  )
  await fc.assert(property, {
    numRuns: sampler.size(60, 15),
    seed: sampler.seedOf('versions of files'),
  })
})

test('writes in one millisecond have versions of their own, the file its time', async () => {
  await inObject(async (storage) => {
    const fs = await openFiles(storage)
    const stats = await Promise.all([1, 2, 3].map((it) => fs.writeFile('/a', `${it}`)))
    expect(new Set(stats.map((stat) => stat.version)).size).toBe(3)
    const { mtime } = await fs.stat('/a')
    expect(Math.abs(mtime.getTime() - Date.now())).toBeLessThan(60_000)
  })
})
