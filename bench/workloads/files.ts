// Write, overwrite, read and stat of small files, and whole large ones.
import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readText } from '@helix-agents/core'
import { type Contender, measure } from '../harness/measure.ts'
import { diskPeers, memoryPeers, type PeerFileSystem } from '../harness/peer-file-systems.ts'
import { type Gate, report, type Verdict } from '../harness/report.ts'
import { openDisk, openMemory, temporaryFolder } from '../harness/workspaces.ts'

const small = 'const answer = 42 // twenty-nine bytes\n'.repeat(105).slice(0, 4096)
const large = 'const answer = 42 // twenty-nine bytes\n'.repeat(215_000).slice(0, 8 * 1024 * 1024)

/** The four operations, as every implementation offers them. */
interface Subject extends PeerFileSystem {
  readonly name: string
}

export async function run(peers: boolean): Promise<Verdict[]> {
  return [...(await memory(peers)), ...(await disk(peers))]
}

async function memory(peers: boolean): Promise<Verdict[]> {
  const ours = await openMemory()
  const subjects = [
    mapLimit(),
    subject('helix in-memory', {
      write: (path, text) => ours.writeFile(path, text),
      read: (path) => readText(ours, path),
      stat: (path) => ours.stat(path),
    }),
    ...(peers ? await memoryPeers() : []),
  ]
  const gates = {
    create: { most: 0.6, peerLeast: 2 },
    overwrite: { most: 0.6, peerLeast: 2 },
    read: { most: 0.8, peerLeast: 2 },
    stat: { most: 1.5, peerLeast: 1.2 },
    writeLarge: { most: 0.05, peerLeast: 1 },
    readLarge: { most: 0.05, peerLeast: 20 },
  }
  return all('memory', subjects, gates)
}

async function disk(peers: boolean): Promise<Verdict[]> {
  const ours = await openDisk()
  const [limit, theirs] = [temporaryFolder(), temporaryFolder()]
  const subjects = [
    subject('node:fs sync, atomic', {
      write: (path, text) => {
        // Every write of a workspace is atomic: the limit that may tear a file is no limit.
        writeFileSync(join(limit.path, '.temporary'), text)
        renameSync(join(limit.path, '.temporary'), join(limit.path, path))
      },
      read: (path) => readFileSync(join(limit.path, path), 'utf8'),
      stat: (path) => statSync(join(limit.path, path)),
    }),
    subject('helix local-bash', {
      write: (path, text) => ours.fs.writeFile(path, text),
      read: (path) => readText(ours.fs, path),
      stat: (path) => ours.fs.stat(path),
    }),
    ...(peers ? await diskPeers(theirs.path) : []),
  ]
  const gates = {
    create: { most: 1.5, peerLeast: 4 },
    overwrite: { most: 1, peerLeast: 1.5 },
    read: { most: 1.3, peerLeast: 15 },
    stat: { most: 2.5, peerLeast: 12 },
    writeLarge: { most: 1.3, peerLeast: 1.2 },
    readLarge: { most: 1.3, peerLeast: 1 },
  }
  const verdicts = await all('disk', subjects, gates)
  await ours.close()
  limit.remove()
  theirs.remove()
  return verdicts
}

type Operation = 'create' | 'overwrite' | 'read' | 'stat' | 'writeLarge' | 'readLarge'

const titles: Record<Operation, string> = {
  create: 'write 4 KiB, new file',
  overwrite: 'overwrite 4 KiB',
  read: 'read 4 KiB',
  stat: 'stat',
  writeLarge: 'write 8 MiB',
  readLarge: 'read 8 MiB',
}

async function all(
  where: string,
  subjects: readonly Subject[],
  gates: Record<Operation, Gate>,
): Promise<Verdict[]> {
  for (const { write } of subjects) {
    for (const path of paths) await write(path, small)
    await write('/large.txt', large)
  }
  const verdicts: Verdict[] = []
  for (const operation of Object.keys(titles) as Operation[]) {
    const measurements = await measure(subjects.map((one) => contender(one, operation)))
    verdicts.push(
      report({
        title: `${where}: ${titles[operation]}`,
        ours: subjects[1]!.name,
        limit: subjects[0]!.name,
        measurements,
        gate: gates[operation],
      }),
    )
  }
  return verdicts
}

/** Many files: one path alone would only measure the cache of the engine. */
const paths = Array.from({ length: 1000 }, (_, i) => `/file-${i}.txt`)
let created = 0
let turn = 0

function nextPath(): string {
  turn = (turn + 1) % paths.length
  return `/file-${turn}.txt`
}

function contender({ name, write, read, stat }: Subject, operation: Operation): Contender {
  const once: Record<Operation, () => unknown> = {
    create: () => write(`/new-${created++}.txt`, small),
    overwrite: () => write(nextPath(), small),
    read: () => read(nextPath()),
    stat: () => stat(nextPath()),
    writeLarge: () => write('/large.txt', large),
    readLarge: () => read('/large.txt'),
  }
  const task = once[operation]
  return {
    name,
    run: async (times) => {
      for (let i = 0; i < times; i++) await task()
    },
  }
}

/** The least that keeps bytes apart from the caller's text. */
function mapLimit(): Subject {
  const files = new Map<string, Uint8Array>()
  const [encoder, decoder] = [new TextEncoder(), new TextDecoder()]
  return subject('Map of bytes', {
    write: async (path, text) => files.set(path, encoder.encode(text)),
    read: async (path) => decoder.decode(files.get(path)),
    stat: async (path) => ({ size: files.get(path)?.byteLength }),
  })
}

function subject(name: string, operations: Omit<PeerFileSystem, 'name'>): Subject {
  return { name, ...operations }
}
