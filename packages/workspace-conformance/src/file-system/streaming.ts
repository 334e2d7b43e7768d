import { equal, equalBytes, patternBytes, rejectionOf, rejectsWithCode } from '../assert.ts'
import {
  brokenStream,
  collect,
  type FileSystemBehaviour,
  names,
  read,
  readOrCode,
  streamOf,
} from './files.ts'

const LARGE = 3 * 1024 * 1024 + 7

export const streamBehaviours: readonly FileSystemBehaviour[] = [
  {
    id: 'fs/stream/reads-a-whole-file',
    run: async (fs) => {
      await fs.writeFile('/a', patternBytes(200_000))
      equalBytes(await collect(await fs.readStream('/a')), patternBytes(200_000))
      await fs.writeFile('/empty', '')
      equal((await collect(await fs.readStream('/empty'))).length, 0)
    },
  },
  {
    id: 'fs/stream/reads-a-range-of-bytes',
    run: async (fs) => {
      await fs.writeFile('/a', 'zß水🍌')
      equalBytes(await collect(await fs.readStream('/a', { offset: 1, length: 2 })), 'ß')
      equalBytes(await collect(await fs.readStream('/a', { offset: 6 })), '🍌')
      equalBytes(await collect(await fs.readStream('/a', { length: 1 })), 'z')
      equalBytes(await collect(await fs.readStream('/a', { length: 0 })), '')
    },
  },
  {
    id: 'fs/stream/a-range-past-the-end-is-short-or-empty',
    run: async (fs) => {
      await fs.writeFile('/a', 'abc')
      equalBytes(await collect(await fs.readStream('/a', { offset: 2, length: 99 })), 'c')
      equalBytes(await collect(await fs.readStream('/a', { offset: 3 })), '')
      equalBytes(await collect(await fs.readStream('/a', { offset: 99, length: 1 })), '')
    },
  },
  {
    id: 'fs/stream/missing-is-known-before-the-stream',
    run: (fs) => rejectsWithCode('not-found', () => fs.readStream('/missing')),
  },
  {
    id: 'fs/stream/a-directory-is-known-before-the-stream',
    run: async (fs) => {
      await fs.mkdir('/d')
      await rejectsWithCode('is-directory', () => fs.readStream('/d'))
      await rejectsWithCode('is-directory', () => fs.writeStream('/d', streamOf('x')))
    },
  },
  {
    id: 'fs/stream/a-reader-may-stop-early',
    run: async (fs) => {
      await fs.writeFile('/a', patternBytes(200_000))
      const stream = await fs.readStream('/a')
      const reader = stream.getReader()
      await reader.read()
      await reader.cancel()
      await fs.writeFile('/a', 'new')
      equal(await read(fs, '/a'), 'new')
    },
  },
  {
    id: 'fs/stream/stores-every-piece',
    run: async (fs) => {
      const bytes = new TextEncoder().encode('水')
      const stat = await fs.writeStream(
        '/d/a',
        streamOf('a', bytes.subarray(0, 1), bytes.subarray(1), '', Uint8Array.of(0, 255)),
      )
      equalBytes(await fs.readFile('/d/a'), Uint8Array.of(97, ...bytes, 0, 255))
      equal(stat.size, 6)
      equal((await fs.stat('/d/a')).version, stat.version)
    },
  },
  {
    id: 'fs/stream/more-than-two-megabytes',
    slow: true,
    run: async (fs) => {
      const bytes = patternBytes(LARGE)
      const pieces: Uint8Array[] = []
      for (let at = 0; at < LARGE; at += 100_000) pieces.push(bytes.subarray(at, at + 100_000))
      await fs.writeStream('/large', streamOf(...pieces))
      equalBytes(await collect(await fs.readStream('/large')), bytes)
    },
  },
  {
    id: 'fs/stream/a-failing-source-leaves-the-old-file',
    run: async (fs) => {
      await fs.writeFile('/a', 'old')
      await rejectionOf(() => fs.writeStream('/a', brokenStream()))
      equal(await read(fs, '/a'), 'old')
    },
  },
  {
    id: 'fs/stream/a-failing-source-makes-no-file',
    run: async (fs) => {
      await rejectionOf(() => fs.writeStream('/a', brokenStream()))
      equal(await readOrCode(fs, '/a'), 'not-found')
      equal(await names(fs, '/'), [])
    },
  },
  {
    id: 'fs/stream/if-absent-rejects-an-existing-file',
    run: async (fs) => {
      await fs.writeFile('/a', 'old')
      await rejectsWithCode('already-exists', () =>
        fs.writeStream('/a', streamOf('new'), { ifAbsent: true }),
      )
      equal(await read(fs, '/a'), 'old')
    },
  },
  {
    id: 'fs/stream/if-version-rejects-a-changed-file',
    run: async (fs) => {
      const { version } = await fs.writeFile('/a', 'one')
      await fs.writeFile('/a', 'two')
      await rejectsWithCode('stale-write', () =>
        fs.writeStream('/a', streamOf('new'), { ifVersion: version }),
      )
      equal(await read(fs, '/a'), 'two')
    },
  },
]
