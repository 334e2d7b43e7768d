import { SnapshotStoreError } from '../errors/snapshot-store-error.ts'
import type { FileMode, FileSystem } from '../modules/fs/contract.ts'
import { createTimeSlice } from '../time/slice.ts'
import { inParallel } from './in-parallel.ts'
import { byPath, type SnapshotLoss } from './loss.ts'
import type {
  SnapshotEntry,
  SnapshotFile,
  SnapshotLimits,
  SnapshotLink,
  SnapshotManifest,
} from './manifest.ts'
import { checkManifest } from './parse-manifest.ts'
import { blockLengths, blocksError, checkBlocks } from './read-blocks.ts'
import type { SnapshotStore } from './snapshot-store.ts'

/** Verified blocks that are small are kept up to so many bytes, and not read a second time. */
const KEPT_BYTES = 8 * 1024 * 1024
const KEPT_BLOCK_BYTES = 64 * 1024
/** A target may hold several blocks of each file that it gets as a stream. */
const STREAMS_AT_ONCE = 2
/** Where the clock stands still, so many large blocks are written in a turn as take about 10 ms. */
const CHECKS_A_BLOCK = 512

/** Where the blocks are, and what is accepted. */
export interface RestoreSnapshotOptions {
  /** Scope of the store. */
  readonly scope: string
  /** What the target may take. Default: `snapshotLimits`. */
  readonly limits?: SnapshotLimits
  readonly signal?: AbortSignal
}

/** What a restore wrote. */
export interface RestoredSnapshot {
  readonly files: number
  readonly bytes: number
  /** What the snapshot has and the target cannot hold. Empty: all is there. */
  readonly losses: readonly SnapshotLoss[]
}

/**
 * Writes a snapshot into an empty workspace. Every block is read and verified before anything is
 * written. A target that a failure left incomplete is thrown away by the caller.
 *
 * @throws {SnapshotStoreError} `invalid-manifest`, `target-not-empty`, `missing-blocks`, `corrupt`
 * (these name files).
 * @throws {FileSystemError} as the target does: `storage-full`, `too-large`.
 */
export async function restoreSnapshot(
  manifest: SnapshotManifest,
  store: SnapshotStore,
  fs: FileSystem,
  options: RestoreSnapshotOptions,
): Promise<RestoredSnapshot> {
  const { scope, limits, signal } = options
  await checkManifest(manifest, limits)
  if ((await fs.ls('/')).length > 0) {
    throw new SnapshotStoreError('target-not-empty', 'the target of a restore has files')
  }
  const { entries, header } = manifest
  const source = await VerifiedBlocks.of(entries, { store, scope }, signal)
  const writer = new EntryWriter(fs, source)
  await inOrder(entries, signal, async ({ path, type }) => {
    if (type === 'directory') await writer.makeDirectory(path)
  })
  const files = entries.filter((entry) => entry.type === 'file')
  const write = (file: SnapshotFile): Promise<void> => writer.writeFile(file)
  await inParallel(files.filter(isWhole), write, { signal })
  const streamed = files.filter((file) => !isWhole(file))
  await inParallel(streamed, write, { signal, atOnce: STREAMS_AT_ONCE })
  const links = entries.filter((entry) => entry.type === 'symlink')
  await inParallel(links, (link) => writer.makeLink(link), { signal })
  await writer.setModes(entries, signal)
  return { files: files.length, bytes: header.bytes, losses: await byPath(writer.losses) }
}

/** One after the other; other work runs in between. */
async function inOrder(
  entries: readonly SnapshotEntry[],
  signal: AbortSignal | undefined,
  work: (entry: SnapshotEntry) => Promise<void>,
): Promise<void> {
  const slice = createTimeSlice()
  for (const entry of entries) {
    signal?.throwIfAborted()
    await work(entry)
    if (slice.due) await slice.pause()
  }
}

/** Blocks that were all compared with their hash. */
class VerifiedBlocks {
  readonly #kept = new Map<string, Uint8Array>()
  readonly #place: { readonly store: SnapshotStore; readonly scope: string }

  /** @throws {SnapshotStoreError} `missing-blocks`, `corrupt` */
  static async of(
    entries: readonly SnapshotEntry[],
    place: { readonly store: SnapshotStore; readonly scope: string },
    signal?: AbortSignal,
  ): Promise<VerifiedBlocks> {
    const blocks = new VerifiedBlocks(place)
    let kept = 0
    const keep = (hash: string, bytes: Uint8Array): void => {
      if (bytes.length > KEPT_BLOCK_BYTES || kept + bytes.length > KEPT_BYTES) return
      kept += bytes.length
      blocks.#kept.set(hash, bytes)
    }
    const problems = await checkBlocks(place, await blockLengths(entries), keep, signal)
    if (problems.missing.size + problems.corrupt.size > 0) throw blocksError(entries, problems)
    return blocks
  }

  private constructor(place: { readonly store: SnapshotStore; readonly scope: string }) {
    this.#place = place
  }

  /** @throws {SnapshotStoreError} `missing-blocks` when it was freed meanwhile. */
  async read(hash: string): Promise<Uint8Array> {
    const kept = this.#kept.get(hash)
    if (kept !== undefined) return kept
    const { store, scope } = this.#place
    const bytes = (await store.getBlocks(scope, [hash])).get(hash)
    if (bytes !== undefined) return bytes
    throw new SnapshotStoreError('missing-blocks', 'the snapshot was deleted while it was restored')
  }
}

/** Whether a file is written with one call: it has one block, or none. */
function isWhole({ blocks }: SnapshotFile): boolean {
  return blocks.length <= 1
}

function modeOf(entry: SnapshotEntry): readonly FileMode[] {
  if (entry.type === 'symlink' || entry.mode === undefined) return []
  return [{ path: entry.path, mode: entry.mode }]
}

/** Writes entries, and records what the target has no place for. */
class EntryWriter {
  readonly losses: SnapshotLoss[] = []
  readonly #fs: FileSystem
  readonly #blocks: VerifiedBlocks

  constructor(fs: FileSystem, blocks: VerifiedBlocks) {
    this.#fs = fs
    this.#blocks = blocks
  }

  async makeDirectory(path: string): Promise<void> {
    await this.#fs.mkdir(path)
  }

  async writeFile({ path, blocks }: SnapshotFile): Promise<void> {
    const [only, ...more] = blocks
    if (more.length > 0) {
      await this.#fs.writeStream(path, this.#stream(blocks), { ifAbsent: true })
      return
    }
    const bytes = only === undefined ? new Uint8Array() : await this.#blocks.read(only)
    await this.#fs.writeFile(path, bytes, { ifAbsent: true })
  }

  async makeLink({ path, target }: SnapshotLink): Promise<void> {
    const { attributes } = this.#fs
    if (attributes?.makeLink === undefined) this.losses.push({ path, kind: 'link' })
    else await attributes.makeLink(path, target)
  }

  /** From the leaves up: a directory that may not be searched is closed last. */
  async setModes(entries: readonly SnapshotEntry[], signal?: AbortSignal): Promise<void> {
    const { attributes } = this.#fs
    const modes = entries.toReversed().flatMap(modeOf)
    if (attributes?.writeModes === undefined) {
      for (const { path } of modes) this.losses.push({ path, kind: 'mode' })
      return
    }
    await attributes.writeModes(modes, { signal })
  }

  #stream(hashes: readonly string[]): ReadableStream<Uint8Array> {
    const rest = hashes.values()
    const slice = createTimeSlice()
    return new ReadableStream(
      {
        pull: async (controller) => {
          // Neither the store nor the target may wait for anything.
          if (slice.dueAfter(CHECKS_A_BLOCK)) await slice.pause()
          const { value } = rest.next()
          if (value === undefined) controller.close()
          else controller.enqueue(new Uint8Array(await this.#blocks.read(value)))
        },
      },
      { highWaterMark: 0 },
    )
  }
}
