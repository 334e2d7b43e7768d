import type { CommandBatch, FileSystem, Workspace } from '@helix-agents/core/provider'
import type { CloudflareFileStoreWorkspaceProvider } from '@helix-agents/workspace-cloudflare-filestore'
import type { FaultyIsolate } from './faulty-isolate.ts'

/** What an operation is given. */
export interface Stage {
  readonly fs: FileSystem
  readonly ws: Workspace
  readonly provider: CloudflareFileStoreWorkspaceProvider
  readonly isolate: FaultyIsolate
  /** Starts the changes of one command. */
  readonly startBatch: () => CommandBatch
}

/** One operation on files that were prepared; every point of it is struck once. */
export interface Scenario {
  readonly name: string
  /** Default: a bucket, for more than {@link THRESHOLD} bytes. */
  readonly withoutBucket?: boolean
  /** Default: that of the provider. */
  readonly maxSnapshots?: number
  /** Leaves garbage for the operation to collect. */
  readonly keepGarbage?: boolean
  /** The only table or view that it may touch: it is one statement. */
  readonly onlyThrough?: string
  /** The files are gone afterwards. */
  readonly closes?: boolean
  readonly prepare?: (fs: FileSystem, ws: Workspace) => Promise<unknown>
  readonly act: (stage: Stage) => Promise<unknown>
}

export const THRESHOLD = 100

export const PART_BYTES = 4096
export const small = (mark: string): string => `${mark} small\n`.repeat(4)
export const large = (mark: string): string => `${mark} large\n`.repeat(40)
/** Two parts, no two blocks alike. */
const parts = (seed: number): Uint8Array => bytesOf(PART_BYTES + 300, seed)

export function bytesOf(length: number, seed: number): Uint8Array {
  const bytes = new Uint8Array(length)
  let state = seed
  for (let i = 0; i < length; i += 97) {
    state = Math.imul(state ^ i, 0x9e3779b1) | 1
    bytes[i] = state >>> 24
  }
  return bytes
}

function cut(bytes: Uint8Array, length: number): Uint8Array[] {
  const count = Math.ceil(bytes.length / length)
  return Array.from({ length: count }, (_, i) => bytes.subarray(i * length, (i + 1) * length))
}

const streamed =
  (path: string, bytes: Uint8Array, piece: number): Scenario['act'] =>
  ({ fs, isolate }) =>
    fs.writeStream(path, isolate.source(cut(bytes, piece)))

/** A directory of every kind of file: plain, of several blocks, in the bucket, shared, a mixture. */
export async function mixedTree(fs: FileSystem): Promise<void> {
  await fs.writeFile('/d/plain', small('p'))
  await fs.writeFile('/d/deep/er/large', large('l'))
  await fs.writeFile('/d/mixed', large('m'))
  await fs.appendFile('/d/mixed', small('end'))
  await fs.copy('/d/deep/er/large', '/d/copy')
  await fs.copy('/d/plain', '/outside')
  await fs.mkdir('/d/empty')
  await fs.writeFile('/d0', small('neighbour'))
}

/** Rejects when a change was rejected. */
function commandOf(batch: CommandBatch): {
  readonly files: CommandBatch['files']
  readonly commit: () => Promise<void>
} {
  return {
    files: batch.files,
    commit: async () => {
      for (const { error } of await batch.commit()) throw error
    },
  }
}

const writes: readonly Scenario[] = [
  {
    name: 'all changes of a command',
    prepare: mixedTree,
    act: async ({ startBatch }) => {
      const { files, commit } = commandOf(startBatch())
      await files.mkdir('/made')
      await files.writeFile('/made/a', small('a'))
      await files.writeFile('/made/b', small('b'))
      await files.appendFile('/d/plain', small('appended'))
      await files.writeFile('/d/copy', small('replaced'))
      await files.move('/made/b', '/outside', { overwrite: true })
      await commit()
    },
  },
  { name: 'write, new', act: ({ fs }) => fs.writeFile('/x/y/a', small('a')) },
  { name: 'write, new, to the bucket', act: ({ fs }) => fs.writeFile('/x/y/a', large('a')) },
  {
    name: 'overwrite in the database',
    prepare: (fs) => fs.writeFile('/a', small('a')),
    act: ({ fs }) => fs.writeFile('/a', small('b')),
  },
  {
    name: 'overwrite what is known',
    onlyThrough: 'helix_fs_changes',
    prepare: (fs) => fs.writeFile('/a', small('a')),
    act: ({ fs }) => fs.writeFile('/a', small('b').slice(3)),
  },
  {
    name: 'overwrite what is known by more',
    onlyThrough: 'helix_fs_changes',
    prepare: (fs) => fs.writeFile('/a', 'less'),
    act: ({ fs }) => fs.writeFile('/a', small('b')),
  },
  {
    name: 'write, new, where all is known',
    onlyThrough: 'helix_fs_additions',
    prepare: async (fs) => {
      await fs.writeFile('/d/a', small('a'))
      await fs.writeFile('/d/b', small('b'))
    },
    act: ({ fs }) => fs.writeFile('/d/new', small('c')),
  },
  {
    name: 'overwrite in the bucket',
    prepare: (fs) => fs.writeFile('/a', large('a')),
    act: ({ fs }) => fs.writeFile('/a', large('b')),
  },
  {
    name: 'overwrite in the bucket by the same',
    prepare: (fs) => fs.writeFile('/a', large('a')),
    act: ({ fs }) => fs.writeFile('/a', large('a')),
  },
  {
    name: 'overwrite by what is garbage',
    keepGarbage: true,
    prepare: async (fs) => {
      await fs.writeFile('/a', large('a'))
      await fs.writeFile('/a', large('b'))
    },
    act: ({ fs }) => fs.writeFile('/a', large('a')),
  },
  {
    name: 'overwrite, from the database to the bucket',
    prepare: (fs) => fs.writeFile('/a', small('a')),
    act: ({ fs }) => fs.writeFile('/a', large('b')),
  },
  {
    name: 'overwrite, from the bucket to the database',
    prepare: (fs) => fs.writeFile('/a', large('a')),
    act: ({ fs }) => fs.writeFile('/a', small('b')),
  },
  {
    name: 'overwrite a copy in the bucket',
    prepare: async (fs) => {
      await fs.writeFile('/a', large('a'))
      await fs.copy('/a', '/b')
    },
    act: ({ fs }) => fs.writeFile('/b', large('b')),
  },
  {
    name: 'edit a file of several blocks',
    withoutBucket: true,
    prepare: (fs) => fs.writeFile('/a', bytesOf(300_000, 1)),
    act: ({ fs }) => {
      const bytes = bytesOf(300_000, 1)
      bytes[150_000] = 77
      return fs.writeFile('/a', bytes)
    },
  },
  {
    name: 'write two parts',
    prepare: (fs) => fs.writeFile('/a', large('a')),
    act: ({ fs }) => fs.writeFile('/a', parts(2)),
  },
]

const appends: readonly Scenario[] = [
  {
    name: 'append',
    prepare: (fs) => fs.writeFile('/a', small('a')),
    act: ({ fs }) => fs.appendFile('/a', 'end'),
  },
  { name: 'append to nothing', act: ({ fs }) => fs.appendFile('/x/a', 'end') },
  {
    name: 'append, from the database to the bucket',
    prepare: (fs) => fs.writeFile('/a', small('a')),
    act: ({ fs }) => fs.appendFile('/a', large('end')),
  },
  {
    name: 'append to a file in the bucket',
    prepare: (fs) => fs.writeFile('/a', large('a')),
    act: ({ fs }) => fs.appendFile('/a', small('end')),
  },
  {
    name: 'append to a file in the bucket, whose end goes there too',
    prepare: async (fs) => {
      await fs.writeFile('/a', large('a'))
      await fs.appendFile('/a', small('end'))
    },
    act: ({ fs }) => fs.appendFile('/a', large('more')),
  },
  {
    name: 'append to a copy',
    prepare: async (fs) => {
      await fs.writeFile('/a', large('a'))
      await fs.appendFile('/a', small('end'))
      await fs.copy('/a', '/b')
    },
    act: ({ fs }) => fs.appendFile('/b', large('more')),
  },
]

const streams: readonly Scenario[] = [
  { name: 'stream, small', act: streamed('/x/a', bytesOf(60, 3), 7) },
  {
    name: 'stream to the bucket',
    prepare: (fs) => fs.writeFile('/a', large('a')),
    act: streamed('/a', bytesOf(300, 4), 101),
  },
  {
    name: 'stream to the database, in steps',
    withoutBucket: true,
    prepare: (fs) => fs.writeFile('/a', small('a')),
    act: streamed('/a', bytesOf(PART_BYTES + 900, 5), 3000),
  },
  {
    name: 'stream two parts',
    prepare: (fs) => fs.writeFile('/a', large('a')),
    act: streamed('/a', parts(6), 3000),
  },
]

const treeChanges: readonly Scenario[] = [
  {
    name: 'move a file',
    prepare: (fs) => fs.writeFile('/a', large('a')),
    act: ({ fs }) => fs.move('/a', '/x/y/b'),
  },
  {
    name: 'move a file over another',
    prepare: async (fs) => {
      await fs.writeFile('/a', large('a'))
      await fs.writeFile('/b', large('b'))
    },
    act: ({ fs }) => fs.move('/a', '/b', { overwrite: true }),
  },
  { name: 'move a subtree', prepare: mixedTree, act: ({ fs }) => fs.move('/d', '/x/e') },
  {
    name: 'copy a file',
    prepare: (fs) => fs.writeFile('/a', large('a')),
    act: ({ fs }) => fs.copy('/a', '/x/b'),
  },
  {
    name: 'copy a file over another',
    prepare: async (fs) => {
      await fs.writeFile('/a', large('a'))
      await fs.writeFile('/b', large('b'))
    },
    act: ({ fs }) => fs.copy('/a', '/b', { overwrite: true }),
  },
  { name: 'copy a subtree', prepare: mixedTree, act: ({ fs }) => fs.copy('/d', '/x/e') },
  {
    name: 'remove a file',
    prepare: (fs) => fs.writeFile('/a', large('a')),
    act: ({ fs }) => fs.rm('/a'),
  },
  {
    name: 'remove a subtree',
    prepare: mixedTree,
    act: ({ fs }) => fs.rm('/d', { recursive: true }),
  },
  { name: 'make directories', act: ({ fs }) => fs.mkdir('/x/y/z', { recursive: true }) },
]

const others: readonly Scenario[] = [
  { name: 'close', closes: true, prepare: mixedTree, act: ({ ws }) => ws.close() },
  {
    name: 'read',
    prepare: mixedTree,
    act: ({ fs }) => fs.readFile('/d/mixed'),
  },
  {
    name: 'read a stream',
    prepare: mixedTree,
    act: async ({ fs }) => new Response(await fs.readStream('/d/mixed')).arrayBuffer(),
  },
  {
    name: 'collect',
    keepGarbage: true,
    prepare: async (fs) => {
      await mixedTree(fs)
      await fs.rm('/d', { recursive: true })
      await fs.writeFile('/a', large('a'))
    },
    act: ({ provider }) => provider.collect(Number.MAX_SAFE_INTEGER),
  },
]

export const scenarios: readonly Scenario[] = [
  ...writes,
  ...appends,
  ...streams,
  ...treeChanges,
  ...others,
]
