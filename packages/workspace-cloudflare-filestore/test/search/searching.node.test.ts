// Searches over files that vanish meanwhile, in Node: a bucket that changes files while it is read.
import type { FileSystem } from '@helix-agents/core/provider'
import { expect, test } from 'vitest'
import { MapBucket } from '../map-bucket.ts'
import { NodeStorage } from '../node-storage.ts'
import { createProvider, openOptions, session } from '../provider-harness.ts'

/** Does something before it gives an object away. */
class ReadBucket extends MapBucket {
  onGet: (() => Promise<unknown>) | undefined

  override async get(...call: Parameters<MapBucket['get']>) {
    const { onGet } = this
    this.onGet = undefined
    const object = await super.get(...call)
    await onGet?.()
    return object
  }
}

async function open() {
  const storage = new NodeStorage()
  const bucket = new ReadBucket()
  const setup = { r2: bucket, inlineThresholdBytes: 3, partBytes: 8, maxWholeReadBytes: 40 }
  const provider = createProvider(storage, setup)
  const { ws } = await provider.open({ kind: 'cloudflare-filestore' }, session, openOptions())
  const fs = ws.fs as FileSystem
  for (const name of ['a', 'b', 'c']) await fs.writeFile(`/${name}`, `needle ${name}`)
  return { bucket, fs }
}

const foundOf = async (fs: FileSystem): Promise<string[]> =>
  (await fs.grep('needle')).matches.map(({ path }) => path)

test.each<[string, (fs: FileSystem) => Promise<unknown>]>([
  ['removed', (fs) => fs.rm('/b')],
  [
    'a directory by now',
    async (fs) => {
      await fs.rm('/b')
      await fs.mkdir('/b')
    },
  ],
  ['larger than what is searched', (fs) => fs.writeFile('/b', `needle ${'x'.repeat(40)}`)],
])('a file that is %s when its turn comes is left out', async (_, change) => {
  const { bucket, fs } = await open()
  expect(await foundOf(fs)).toEqual(['/a', '/b', '/c'])
  bucket.onGet = () => change(fs)
  expect(await foundOf(fs)).toEqual(['/a', '/c'])
})

test('a bucket that fails fails the search', async () => {
  const { bucket, fs } = await open()
  bucket.failing = 'get'
  await expect(fs.grep('needle')).rejects.toMatchObject({ code: 'provider-failed' })
})

test('a pattern finds files by their ends, and by what has no end', async () => {
  const { fs } = await open()
  await fs.writeFile('/d/a.txt', '')
  for (const [pattern, paths] of [
    ['*', ['/a', '/b', '/c']],
    ['?', ['/a', '/b', '/c']],
    ['**/*', ['/a', '/b', '/c', '/d/a.txt']],
    ['**/*.txt', ['/d/a.txt']],
    ['[ab]', ['/a', '/b']],
    ['{a,c}', ['/a', '/c']],
    ['d/*', ['/d/a.txt']],
  ] as const) {
    expect([pattern, await fs.glob(pattern)]).toEqual([pattern, paths])
  }
})
