// Runs inside workerd: the tasks of `workloads/filestore.ts`, all on the database of one object.
import { noopLogger, systemClock } from '@helix-agents/core'
import {
  type FileSystem,
  fileSystemConfigSchema,
  type Snapshotter,
} from '@helix-agents/core/provider'
import {
  CloudflareFileStoreWorkspaceProvider,
  type FileStoreStorage,
} from '@helix-agents/workspace-cloudflare-filestore'
import { LARGE_FILES, SIZES, TREE_FILES, treePath } from './filestore-corpus.ts'
import { createPeer, type Peer } from './filestore-peer.ts'
import { RawFiles } from './raw-files.ts'

interface Subjects {
  readonly fs: FileSystem
  readonly snapshots: Snapshotter
  readonly raw: RawFiles
  readonly peer: Peer | undefined
}

type Task = (subjects: Subjects, index: number) => unknown

const line = 'some line of source text here\n'
const mebibyte = line.repeat(40_000).slice(0, SIZES.large)

// Two contents that differ in every block: SQLite writes no page that stays as it is.
type Two<T> = readonly [T, T]
const small: Two<string> = [textOf(line), textOf(line.toUpperCase())]
const smallBytes: Two<Uint8Array> = [encoded(small[0]), encoded(small[1])]
const large: Two<Uint8Array> = [filled(SIZES.large, 7), filled(SIZES.large, 8)]
const huge: Two<Uint8Array> = [filled(SIZES.huge, 7), filled(SIZES.huge, 8)]
/** Id of the raw chunks of the largest file. */
const HUGE_ID = 1000

const FILES = 500
const at = (index: number): number => index % FILES
/** Changes with every round over the files. */
const inTurn = <T>(two: Two<T>, index: number): T => two[Math.floor(index / FILES) % 2] ?? two[0]
const oneOf = <T>(two: Two<T>, index: number): T => two[index % 2] ?? two[0]
const written = (index: number): string => `/w/f${at(index)}`

/** Of files that are new, here and to raw SQL. */
let fresh = FILES
const freshPath = (): string => {
  fresh += 1
  return `/n/${Math.floor(fresh / 1000)}/f${fresh}`
}

function textOf(one: string): string {
  return one.repeat(200).slice(0, SIZES.small)
}

function encoded(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

function filled(size: number, value: number): Uint8Array {
  return new Uint8Array(size).fill(value)
}

function edited(text: string, index: number): string {
  const place = line.length * (1000 + ((index * 991) % 30_000))
  return `${text.slice(0, place)}X${text.slice(place + 1)}`
}

const ours: Readonly<Record<string, Task>> = {
  'write text': ({ fs }, i) => fs.writeFile(written(i), inTurn(small, i)),
  'write bytes': ({ fs }, i) => fs.writeFile(written(i), inTurn(smallBytes, i)),
  'write new': ({ fs }) => fs.writeFile(freshPath(), smallBytes[0]),
  read: ({ fs }, i) => fs.readText!(written(i)),
  'read bytes': ({ fs }, i) => fs.readFile(written(i)),
  stat: ({ fs }, i) => fs.stat(written(i)),
  'stat large': ({ fs }, i) => fs.stat(`/fat/f${i % LARGE_FILES}.ts`),
  'write 1 MiB': ({ fs }, i) => fs.writeFile('/m/bytes', oneOf(large, i)),
  'read 1 MiB': ({ fs }) => fs.readFile('/m/bytes'),
  'write 8 MiB': ({ fs }, i) => fs.writeFile('/m/huge', oneOf(huge, i)),
  'read 8 MiB': ({ fs }) => fs.readFile('/m/huge'),
  'edit 1 MiB': async ({ fs }, i) =>
    fs.writeFile('/m/text', edited(await fs.readText!('/m/text'), i)),
  ls: ({ fs }, i) => fs.ls(`/t/d${i % 250}`),
  'ls fat': ({ fs }) => fs.ls('/fat'),
  'glob tree': ({ fs }) => fs.glob('**/*.ts', { path: '/t' }),
  'ls thin': ({ fs }) => fs.ls('/thin'),
  'glob fat': ({ fs }) => fs.glob('**/*.ts', { path: '/fat' }),
  'glob thin': ({ fs }) => fs.glob('**/*.ts', { path: '/thin' }),
  'grep miss': ({ fs }) => fs.grep('needleInHay', { path: '/t' }),
  snapshot: async ({ fs, snapshots }, i) => {
    await fs.writeFile(written(i), inTurn(small, i))
    await snapshots.snapshot()
  },
}

const raws: Readonly<Record<string, Task>> = {
  'write text': ({ raw }, i) => raw.write(at(i), inTurn(small, i)),
  'write bytes': ({ raw }, i) => raw.write(at(i), inTurn(smallBytes, i)),
  'write new': ({ raw }) => raw.write((fresh += 1), smallBytes[0]),
  read: ({ raw }, i) => raw.readText(at(i)),
  'read bytes': ({ raw }, i) => raw.read(at(i)),
  stat: ({ raw }, i) => raw.stat('/t/d1/', `f${1 + 250 * (i % 40)}.ts`),
  'stat large': ({ raw }, i) => raw.stat('/t/d1/', `f${1 + 250 * (i % 40)}.ts`),
  'write 1 MiB': ({ raw }, i) => raw.writeLarge(oneOf(large, i)),
  'read 1 MiB': ({ raw }) => raw.readLarge(SIZES.large),
  'write 8 MiB': ({ raw }, i) => raw.writeLarge(oneOf(huge, i), HUGE_ID),
  'read 8 MiB': ({ raw }) => raw.readLarge(SIZES.huge, HUGE_ID),
  'edit 1 MiB': ({ raw }, i) => raw.writeLarge(oneOf(large, i)),
  ls: ({ raw }, i) => raw.list(`/t/d${i % 250}/`),
  'glob tree': ({ raw }) => raw.glob('/t/', '*.ts'),
  'grep miss': ({ raw }) => raw.search('/t/', 'needleInHay'),
}

const peers: Readonly<Record<string, (peer: Peer, index: number) => unknown>> = {
  'write text': (peer, i) => peer.writeFile(written(i), inTurn(small, i)),
  'write bytes': (peer, i) => peer.writeFileBytes(written(i), inTurn(smallBytes, i)),
  'write new': (peer) => peer.writeFileBytes(freshPath(), smallBytes[0]),
  read: (peer, i) => peer.readFile(written(i)),
  'read bytes': (peer, i) => peer.readFileBytes(written(i)),
  stat: (peer, i) => peer.stat(written(i)),
  'stat large': (peer, i) => peer.stat(`/fat/f${i % LARGE_FILES}.ts`),
  'write 1 MiB': (peer, i) => peer.writeFileBytes('/m/bytes', oneOf(large, i)),
  'read 1 MiB': (peer) => peer.readFileBytes('/m/bytes'),
  'edit 1 MiB': async (peer, i) =>
    peer.writeFile('/m/text', edited((await peer.readFile('/m/text')) ?? '', i)),
  ls: (peer, i) => peer.readDir(`/t/d${i % 250}`),
  'ls fat': (peer) => peer.readDir('/fat'),
  'glob tree': (peer) => peer.glob('/t/**/*.ts'),
  'glob fat': (peer) => peer.glob('/fat/**/*.ts'),
  'grep miss': (peer) => peer.searchFiles('/t/**/*', 'needleInHay'),
}

export class BenchObject {
  readonly #storage: FileStoreStorage
  #subjects: Promise<Subjects> | undefined

  constructor(state: { readonly storage: FileStoreStorage }) {
    this.#storage = state.storage
  }

  /** `?subject=…&task=…&times=…`: does it so often; the caller takes the time. */
  async fetch(request: Request): Promise<Response> {
    const { searchParams } = new URL(request.url)
    this.#subjects ??= prepare(this.#storage)
    const subjects = await this.#subjects
    const run = taskOf(subjects, searchParams.get('subject') ?? '', searchParams.get('task') ?? '')
    const times = Number(searchParams.get('times'))
    if (run === undefined) return new Response('no such task', { status: 404 })
    for (let i = 0; i < times; i++) {
      const result = run(i)
      if (result instanceof Promise) await result
    }
    return new Response('done')
  }
}

function taskOf(
  subjects: Subjects,
  subject: string,
  name: string,
): ((index: number) => unknown) | undefined {
  const { peer } = subjects
  if (subject === 'noop') return () => undefined
  if (subject === 'peer') {
    const task = peers[name]
    return peer === undefined || task === undefined ? undefined : (i) => task(peer, i)
  }
  const task = (subject === 'ours' ? ours : raws)[name]
  return task === undefined ? undefined : (i) => task(subjects, i)
}

async function prepare(storage: FileStoreStorage): Promise<Subjects> {
  const provider = new CloudflareFileStoreWorkspaceProvider({ storage })
  const { ws } = await provider.open(
    { kind: 'cloudflare-filestore' },
    { sessionId: 'bench', agentType: 'bench' },
    {
      workspace: 'files',
      capabilities: { fs: fileSystemConfigSchema.parse({ maxFileSizeMb: 64 }) },
      signal: new AbortController().signal,
      logger: noopLogger,
      clock: systemClock,
    },
  )
  const subjects = {
    fs: ws.fs as FileSystem,
    snapshots: ws.snapshot as Snapshotter,
    raw: new RawFiles(storage),
    peer: createPeer(storage),
  }
  await fill(subjects)
  return subjects
}

/** The same files for all: those of the tasks, and a tree of {@link TREE_FILES}. */
async function fill({ fs, raw, peer }: Subjects): Promise<void> {
  const writers: ((path: string, text: string) => unknown)[] = [
    (path, text) => fs.writeFile(path, text),
    ...(peer === undefined ? [] : [(path: string, text: string) => peer.writeFile(path, text)]),
  ]
  const body = line.repeat(100).slice(0, SIZES.source)
  const fat = line.repeat(10_000).slice(0, SIZES.fat)
  for (const write of writers) {
    for (let i = 0; i < FILES; i++) await write(written(i), small[0])
    for (let i = 0; i < TREE_FILES; i++) await write(treePath(i), body)
    for (let i = 0; i < LARGE_FILES; i++) await write(`/fat/f${i}.ts`, fat)
    for (let i = 0; i < LARGE_FILES; i++) await write(`/thin/f${i}.ts`, 'x')
    await write('/m/text', mebibyte)
  }
  for (let i = 0; i < FILES; i++) raw.write(i, smallBytes[0])
  for (let i = 0; i < TREE_FILES; i++) raw.addNamed(treePath(i), body)
  raw.writeLarge(large[0])
  raw.writeLarge(huge[0], HUGE_ID)
  await fs.writeFile('/m/bytes', large[0])
  await fs.writeFile('/m/huge', huge[0])
  await peer?.writeFileBytes('/m/bytes', large[0])
}
