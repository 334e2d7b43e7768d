import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { SnapshotStoreError } from '@helix-agents/core'
import {
  createTimeSlice,
  encodeManifestParts,
  parseHeader,
  parseManifest,
  type SnapshotHeader,
  snapshotKey,
  type SnapshotManifest,
} from '@helix-agents/core/provider'
import { errnoOf } from '../../file-system/map-error.ts'
import { unguessableName } from '../../file-system/path/unguessable-name.ts'
import type { BlockNames } from './block-names.ts'
import { isPrintOf, linesIn, printOf } from './file-print.ts'
import type { KnownManifests } from './known-manifests.ts'

const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
const MAX_HEADER_BYTES = 16 * 1024
/** Larger than any within the limits of the format. */
const MAX_MANIFEST_BYTES = 1024 ** 3
/** The key of a snapshot, by which names sort: time of taking and id. */
const NAME = /^\d{16}\.[A-Za-z0-9_-]{16,128}$/
const ID_AT = 17
/** Bytes that are read or written between two checks of the time. */
const STRETCH_BYTES = 1024 * 1024

/** The manifests of one scope, each a file named by its time and its id. */
export class ManifestFiles {
  readonly #directory: string
  readonly #known: KnownManifests

  constructor(directory: string, known: KnownManifests) {
    this.#directory = directory
    this.#known = known
  }

  /** Of all of them, the newest first. */
  keys(): readonly string[] {
    try {
      const names = readdirSync(this.#directory).filter((name) => NAME.test(name))
      return names.toSorted().toReversed()
    } catch (error) {
      if (errnoOf(error) === 'ENOENT') return []
      throw error
    }
  }

  has(snapshotId: string): boolean {
    return this.#find(snapshotId) !== undefined
  }

  /** Stores it in one step. */
  async put(manifest: SnapshotManifest): Promise<void> {
    const name = snapshotKey(manifest.header)
    const draft = join(this.#directory, `draft-${unguessableName()}`)
    const path = join(this.#directory, name)
    try {
      const parts = await encodeManifestParts(manifest)
      await writeInSlices(draft, parts)
      renameSync(draft, path)
      this.#known.add(path, { manifest, print: await printOf(parts) })
    } catch (error) {
      rmSync(draft, { force: true })
      throw error
    }
  }

  /** @throws {SnapshotStoreError} `not-found`, `corrupt`. */
  async get(snapshotId: string): Promise<SnapshotManifest> {
    const path = this.#pathOf(snapshotId)
    const bytes = await readInSlices(path)
    const known = this.#known.get(path)
    if (known !== undefined && (await isPrintOf(known.print, bytes))) return known.manifest
    const manifest = await this.#parse(bytes, snapshotId)
    this.#known.add(path, { manifest, print: await printOf(linesIn(bytes)) })
    return manifest
  }

  /** One that was stored or read before and is still there, if it is remembered. */
  known(snapshotId: string): SnapshotManifest | undefined {
    const path = this.#find(snapshotId)
    return path === undefined ? undefined : this.#known.get(path)?.manifest
  }

  /** Undefined when it is gone. @throws {SnapshotStoreError} `corrupt` */
  header(key: string): SnapshotHeader | undefined {
    try {
      return parseHeader(firstLineOf(join(this.#directory, key)))
    } catch (cause) {
      if (!SnapshotStoreError.isInstance(cause)) throw cause
      // Deleted since it was listed.
      if (cause.code === 'not-found') return undefined
      throw corrupt(cause.message, cause)
    }
  }

  /**
   * Adds what a manifest names. One that was parsed before is only compared with its print.
   * @throws {SnapshotStoreError} `corrupt`
   */
  async addNames(key: string, names: BlockNames): Promise<void> {
    const path = join(this.#directory, key)
    const bytes = await readInSlices(path)
    const known = this.#known.soundPrint(path)
    if (known !== undefined && (await isPrintOf(known, bytes))) return names.add(bytes, known)
    await this.#parse(bytes, key.slice(ID_AT))
    const print = await printOf(linesIn(bytes))
    this.#known.addSound(path, print)
    return names.add(bytes, print)
  }

  delete(snapshotId: string): boolean {
    const path = this.#find(snapshotId)
    if (path === undefined) return false
    unlinkSync(path)
    this.#known.delete(path)
    return true
  }

  #pathOf(snapshotId: string): string {
    const path = this.#find(snapshotId)
    if (path !== undefined) return path
    throw notFound()
  }

  async #parse(bytes: Uint8Array, snapshotId: string): Promise<SnapshotManifest> {
    try {
      const manifest = await parseManifest(bytes)
      if (manifest.header.snapshotId === snapshotId) return manifest
    } catch (cause) {
      throw SnapshotStoreError.isInstance(cause) ? corrupt(cause.message, cause) : cause
    }
    throw corrupt('it has the name of another one')
  }

  #find(snapshotId: string): string | undefined {
    const name = this.keys().find((key) => key.slice(ID_AT) === snapshotId)
    return name === undefined ? undefined : join(this.#directory, name)
  }
}

async function readInSlices(path: string): Promise<Buffer> {
  const fd = open(path)
  try {
    const { size } = fstatSync(fd)
    if (size > MAX_MANIFEST_BYTES) throw corrupt('it is too large')
    const slice = createTimeSlice()
    const bytes = Buffer.allocUnsafe(size)
    let length = 0
    for (let count = 1; length < size && count > 0; length += count) {
      count = readSync(fd, bytes, length, Math.min(STRETCH_BYTES, size - length), null)
      if (slice.due) await slice.pause()
    }
    return bytes.subarray(0, length)
  } finally {
    closeSync(fd)
  }
}

async function writeInSlices(path: string, parts: readonly Uint8Array[]): Promise<void> {
  const fd = openSync(path, 'wx', 0o600)
  try {
    const slice = createTimeSlice()
    for (const bytes of inStretches(parts)) {
      writeFileSync(fd, bytes)
      if (slice.due) await slice.pause()
    }
  } finally {
    closeSync(fd)
  }
}

/** Joins parts, so that there are few. */
function* inStretches(parts: readonly Uint8Array[]): Generator<Uint8Array> {
  let [start, length] = [0, 0]
  for (const [at, part] of parts.entries()) {
    length += part.length
    if (length < STRETCH_BYTES && at < parts.length - 1) continue
    yield Buffer.concat(parts.slice(start, at + 1), length)
    start = at + 1
    length = 0
  }
}

function open(path: string): number {
  try {
    return openSync(path, READ)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') throw notFound()
    if (errnoOf(error) === 'ELOOP') throw corrupt('a link is in its place')
    throw error
  }
}

function firstLineOf(path: string): string {
  const fd = open(path)
  try {
    const buffer = Buffer.allocUnsafe(MAX_HEADER_BYTES)
    const text = buffer.toString('utf8', 0, readSync(fd, buffer, 0, MAX_HEADER_BYTES, 0))
    return text.slice(0, Math.max(0, text.indexOf('\n')))
  } finally {
    closeSync(fd)
  }
}

function notFound(): SnapshotStoreError {
  return new SnapshotStoreError('not-found', 'there is no such snapshot')
}

function corrupt(problem: string, cause?: unknown): SnapshotStoreError {
  return new SnapshotStoreError('corrupt', `the stored manifest is damaged: ${problem}`, {
    ...(cause !== undefined && { cause }),
  })
}
