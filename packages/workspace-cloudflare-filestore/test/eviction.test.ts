// The object is evicted between every two operations of a recorded session: same end as without.
import { evictDurableObject, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import type { FileSystem } from '@helix-agents/core/provider'
import { InMemoryFileSystem } from '@helix-agents/workspace-memory'
import { expect, test } from 'vitest'
import { openFiles } from './objects.ts'

const large = 'a line of a large file\n'.repeat(10_000)

const recorded: readonly ((fs: FileSystem) => Promise<unknown>)[] = [
  (fs) => fs.writeFile('/notes/plan.md', '# Plan\n'),
  (fs) => fs.appendFile('/notes/plan.md', '- one\n'),
  (fs) => fs.writeFile('/large.txt', large),
  (fs) => fs.appendFile('/large.txt', 'the end\n'),
  (fs) => fs.copy('/large.txt', '/notes/copy.txt'),
  (fs) => fs.writeFile('/large.txt', `${large}another end\n`),
  (fs) => fs.mkdir('/empty'),
  (fs) => fs.move('/notes', '/archive/notes'),
  (fs) => fs.writeStream('/stream', new Blob([large, large]).stream()),
  (fs) => fs.rm('/large.txt'),
  (fs) => fs.appendFile('/archive/notes/plan.md', '- two\n'),
  (fs) => fs.appendFile('/archive/notes/copy.txt', large),
]

async function contentsOf(fs: FileSystem): Promise<string[]> {
  const paths = await fs.glob('**')
  return Promise.all(
    paths.map(async (path) => `${path}\n${new TextDecoder().decode(await fs.readFile(path))}`),
  )
}

test.each([{}, { r2: env.BUCKET, inlineThresholdBytes: 100_000 }])(
  'with the options %j',
  { timeout: 120_000 },
  async (setup) => {
    const stub = env.FILES.get(env.FILES.newUniqueId())
    const model = new InMemoryFileSystem()
    for (const step of recorded) {
      await runInDurableObject(stub, async (_, { storage }) =>
        step(await openFiles(storage, setup)).then(() => undefined),
      )
      await step(model)
      await evictDurableObject(stub)
    }
    const real = await runInDurableObject(stub, async (_, { storage }) =>
      contentsOf(await openFiles(storage, setup)),
    )
    expect(real).toEqual(await contentsOf(model))
  },
)
