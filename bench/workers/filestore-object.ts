// Runs inside workerd: the tasks of `workloads/filestore.ts`, all on the database of one object.
import {
  type FileSystem,
  fileSystemConfigSchema,
  noopLogger,
  systemClock,
} from '@helix-agents/core'
import {
  CloudflareFileStoreWorkspaceProvider,
  type FileStoreStorage,
} from '@helix-agents/workspace-cloudflare-filestore'
import { LARGE_FILES, SIZES, TREE_FILES, treePath } from './filestore-corpus.ts'
import { createPeer, type Peer } from './filestore-peer.ts'
import { RawFiles } from './raw-files.ts'

interface Subjects {
  readonly fs: FileSystem
  readonly raw: RawFiles
  readonly peer: Peer | undefined
}

type Task = (subjects: Subjects, index: number) => unknown

const line = 'some line of source text here\n'
const small = line.repeat(200).slice(0, SIZES.small)
const smallBytes = new TextEncoder().encode(small)
const mebibyte = line.repeat(40_000).slice(0, SIZES.large)
/** Two contents that differ in every block: nothing can be left as it is. */
const large = [7, 8].map((value) => new Uint8Array(SIZES.large).fill(value)) as [
  Uint8Array,
  Uint8Array,
]
const largeAt = (index: number): Uint8Array => large[index % 2] ?? large[0]
const at = (index: number): number => index % 500
const written = (index: number): string => `/w/f${at(index)}`

function edited(text: string, index: number): string {
  const place = line.length * (1000 + ((index * 991) % 30_000))
  return `${text.slice(0, place)}X${text.slice(place + 1)}`
}

const ours: Readonly<Record<string, Task>> = {
  'write text': ({ fs }, i) => fs.writeFile(written(i), small),
  'write bytes': ({ fs }, i) => fs.writeFile(written(i), smallBytes),
  read: ({ fs }, i) => fs.readText!(written(i)),
  stat: ({ fs }, i) => fs.stat(written(i)),
  'stat large': ({ fs }, i) => fs.stat(`/fat/f${i % LARGE_FILES}.ts`),
  'write 1 MiB': ({ fs }, i) => fs.writeFile('/m/bytes', largeAt(i)),
  'read 1 MiB': ({ fs }) => fs.readFile('/m/bytes'),
  'edit 1 MiB': async ({ fs }, i) =>
    fs.writeFile('/m/text', edited(await fs.readText!('/m/text'), i)),
  ls: ({ fs }, i) => fs.ls(`/t/d${i % 250}`),
  'ls fat': ({ fs }) => fs.ls('/fat'),
  'glob tree': ({ fs }) => fs.glob('**/*.ts', { path: '/t' }),
  'ls thin': ({ fs }) => fs.ls('/thin'),
  'glob fat': ({ fs }) => fs.glob('**/*.ts', { path: '/fat' }),
  'glob thin': ({ fs }) => fs.glob('**/*.ts', { path: '/thin' }),
  'grep miss': ({ fs }) => fs.grep('needleInHay', { path: '/t' }),
}

const raws: Readonly<Record<string, Task>> = {
  'write text': ({ raw }, i) => raw.write(at(i), small),
  'write bytes': ({ raw }, i) => raw.write(at(i), smallBytes),
  read: ({ raw }, i) => raw.read(at(i)),
  stat: ({ raw }, i) => raw.stat('/t/d1/', `f${1 + 250 * (i % 40)}.ts`),
  'stat large': ({ raw }, i) => raw.stat('/t/d1/', `f${1 + 250 * (i % 40)}.ts`),
  'write 1 MiB': ({ raw }, i) => raw.writeLarge(largeAt(i)),
  'read 1 MiB': ({ raw }) => raw.readLarge(),
  'edit 1 MiB': ({ raw }, i) => raw.writeLarge(largeAt(i)),
  ls: ({ raw }, i) => raw.list(`/t/d${i % 250}/`),
  'glob tree': ({ raw }) => raw.glob('/t/', '*.ts'),
  'grep miss': ({ raw }) => raw.search('/t/', 'needleInHay'),
}

const peers: Readonly<Record<string, (peer: Peer, index: number) => unknown>> = {
  'write text': (peer, i) => peer.writeFile(written(i), small),
  'write bytes': (peer, i) => peer.writeFileBytes(written(i), smallBytes),
  read: (peer, i) => peer.readFile(written(i)),
  stat: (peer, i) => peer.stat(written(i)),
  'stat large': (peer, i) => peer.stat(`/fat/f${i % LARGE_FILES}.ts`),
  'write 1 MiB': (peer, i) => peer.writeFileBytes('/m/bytes', largeAt(i)),
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
    for (let i = 0; i < 500; i++) await write(written(i), small)
    for (let i = 0; i < TREE_FILES; i++) await write(treePath(i), body)
    for (let i = 0; i < LARGE_FILES; i++) await write(`/fat/f${i}.ts`, fat)
    for (let i = 0; i < LARGE_FILES; i++) await write(`/thin/f${i}.ts`, 'x')
    await write('/m/text', mebibyte)
  }
  for (let i = 0; i < 500; i++) raw.write(i, small)
  for (let i = 0; i < TREE_FILES; i++) raw.addNamed(treePath(i), body)
  raw.writeLarge(large[0])
  await fs.writeFile('/m/bytes', large[0])
  await peer?.writeFileBytes('/m/bytes', large[0])
}
