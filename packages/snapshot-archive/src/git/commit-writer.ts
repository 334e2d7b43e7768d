import {
  parentPath,
  SNAPSHOT_BLOCK_BYTES,
  type SnapshotEntry,
  type SnapshotFile,
  type SnapshotHeader,
} from '@helix-agents/core/provider'
import { type FilePart, readBlocks, type SnapshotSource } from '../read-blocks.ts'
import type { ObjectWriter } from './object-writer.ts'

const TREE = '40000'

interface TreeItem {
  readonly name: string
  readonly mode: string
  readonly id: string
}

/** Writes snapshots as commits. Content that several files or snapshots share is read once. */
export class CommitWriter {
  readonly #source: SnapshotSource
  readonly #objects: ObjectWriter
  readonly #blobs = new Map<string, string>()

  constructor(source: SnapshotSource, objects: ObjectWriter) {
    this.#source = source
    this.#objects = objects
  }

  /** @returns the id of the commit, the same for the same snapshots. */
  async write(
    header: SnapshotHeader,
    entries: readonly SnapshotEntry[],
    parent: string | undefined,
  ): Promise<string> {
    await this.#writeBlobs(entries)
    const tree = await this.#writeTrees(entries)
    const lines = [
      `tree ${tree}`,
      ...(parent === undefined ? [] : [`parent ${parent}`]),
      `author Helix <helix@localhost> ${Math.floor(header.createdAt / 1000)} +0000`,
      `committer Helix <helix@localhost> ${Math.floor(header.createdAt / 1000)} +0000`,
      '',
      `Snapshot of ${oneLine(header.workspace)}`,
      '',
      `Snapshot: ${header.snapshotId}`,
      `Session: ${oneLine(header.sessionId)}`,
      `Agent: ${oneLine(header.agentType)}`,
      `Provider: ${oneLine(header.providerId)}`,
      `Digest: ${header.digest}`,
      '',
    ]
    return this.#objects.write('commit', Buffer.from(lines.join('\n')))
  }

  async #writeBlobs(entries: readonly SnapshotEntry[]): Promise<void> {
    const wanted = new Map<string, SnapshotFile>()
    for (const entry of entries) {
      if (entry.type !== 'file') continue
      const key = keyOf(entry)
      if (!this.#blobs.has(key)) wanted.set(key, entry)
    }
    const parts = readBlocks(this.#source, wanted.values())
    for (const [key, file] of wanted) {
      this.#blobs.set(key, await this.#writeBlob(file, parts))
    }
  }

  async #writeBlob(file: SnapshotFile, parts: AsyncGenerator<FilePart>): Promise<string> {
    if (file.size > SNAPSHOT_BLOCK_BYTES) {
      return this.#objects.writeBlob(file.size, contentOf(parts))
    }
    const content: Uint8Array[] = []
    if (file.size > 0) for await (const part of contentOf(parts)) content.push(part)
    return this.#objects.write('blob', Buffer.concat(content))
  }

  /** From the last path to the first one: what is in a directory comes before it. */
  async #writeTrees(entries: readonly SnapshotEntry[]): Promise<string> {
    const directories = new Map<string, TreeItem[]>()
    for (const entry of entries.toReversed()) {
      const item = await this.#itemOf(entry, directories)
      if (item === undefined) continue
      const parent = parentPath(entry.path)
      const items = directories.get(parent)
      if (items === undefined) directories.set(parent, [item])
      else items.push(item)
    }
    return this.#writeTree(directories.get('/') ?? [])
  }

  /** Nothing for an empty directory. */
  async #itemOf(
    entry: SnapshotEntry,
    directories: Map<string, TreeItem[]>,
  ): Promise<TreeItem | undefined> {
    const name = entry.path.slice(entry.path.lastIndexOf('/') + 1)
    if (entry.type === 'file') {
      const isExecutable = ((entry.mode ?? 0) & 0o111) !== 0
      const id = this.#blobs.get(keyOf(entry)) ?? ''
      return { name, mode: isExecutable ? '100755' : '100644', id }
    }
    if (entry.type === 'symlink') {
      return {
        name,
        mode: '120000',
        id: await this.#objects.write('blob', Buffer.from(entry.target)),
      }
    }
    const items = directories.get(entry.path)
    directories.delete(entry.path)
    return items && { name, mode: TREE, id: await this.#writeTree(items) }
  }

  async #writeTree(items: readonly TreeItem[]): Promise<string> {
    const sorted = items
      .map((item) => ({ item, key: Buffer.from(item.mode === TREE ? `${item.name}/` : item.name) }))
      .toSorted((a, b) => Buffer.compare(a.key, b.key))
    const parts = sorted.flatMap(({ item: { mode, name, id } }) => [
      Buffer.from(`${mode} ${name}\0`),
      Buffer.from(id, 'hex'),
    ])
    return this.#objects.write('tree', Buffer.concat(parts))
  }
}

/** The parts of one file, in order. Its iterator goes on with the next file. */
async function* contentOf(parts: AsyncGenerator<FilePart>): AsyncGenerator<Uint8Array> {
  for (let isLast = false; !isLast;) {
    const { done, value } = await parts.next()
    if (done === true) return
    yield value.bytes
    isLast = value.isLast
  }
}

function keyOf({ blocks }: SnapshotFile): string {
  return blocks.join(',')
}

/** Control characters have no place in a message. */
function oneLine(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, ' ')
}
