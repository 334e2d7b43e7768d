import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { SnapshotStoreError } from '@helix-agents/core'
import {
  encodeManifest,
  parseHeader,
  parseManifest,
  type SnapshotHeader,
  snapshotKey,
  type SnapshotManifest,
} from '@helix-agents/core/provider'
import { errnoOf } from '../../file-system/map-error.ts'
import { unguessableName } from '../../file-system/path/unguessable-name.ts'

const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
const MAX_HEADER_BYTES = 16 * 1024
/** Larger than any within the limits of the format. */
const MAX_MANIFEST_BYTES = 1024 ** 3
/** The key of a snapshot, by which names sort: time of taking and id. */
const NAME = /^\d{16}\.[A-Za-z0-9_-]{16,128}$/
const ID_AT = 17
const HASHES = /"([0-9a-f]{64})"/g

/** The manifests of one scope, each a file named by its time and its id. */
export class ManifestFiles {
  readonly #directory: string

  constructor(directory: string) {
    this.#directory = directory
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
    if (!NAME.test(name)) {
      throw new SnapshotStoreError('invalid-manifest', 'its id or its time cannot be stored')
    }
    const draft = join(this.#directory, `draft-${unguessableName()}`)
    try {
      writeFileSync(draft, await encodeManifest(manifest), { flag: 'wx', mode: 0o600 })
      renameSync(draft, join(this.#directory, name))
    } catch (error) {
      rmSync(draft, { force: true })
      throw error
    }
  }

  /** @throws {SnapshotStoreError} `not-found`, `corrupt`. */
  async get(snapshotId: string): Promise<SnapshotManifest> {
    const manifest = await this.#parse(bytesOf(this.#pathOf(snapshotId)))
    if (manifest.header.snapshotId === snapshotId) return manifest
    throw corrupt('it has the name of another one')
  }

  /** Whether what is stored is this very manifest. */
  async holds(manifest: SnapshotManifest): Promise<boolean> {
    const path = this.#find(manifest.header.snapshotId)
    return path !== undefined && bytesOf(path).equals(await encodeManifest(manifest))
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

  /** Whatever looks like a hash in a manifest, also in a damaged one: too many do no harm. */
  hashes(key: string): readonly string[] {
    const text = bytesOf(join(this.#directory, key)).toString('latin1')
    return Array.from(text.matchAll(HASHES), ([, hash = '']) => hash)
  }

  delete(snapshotId: string): boolean {
    const path = this.#find(snapshotId)
    if (path !== undefined) rmSync(path, { force: true })
    return path !== undefined
  }

  #pathOf(snapshotId: string): string {
    const path = this.#find(snapshotId)
    if (path !== undefined) return path
    throw notFound()
  }

  async #parse(bytes: Uint8Array): Promise<SnapshotManifest> {
    try {
      return await parseManifest(bytes)
    } catch (cause) {
      throw SnapshotStoreError.isInstance(cause) ? corrupt(cause.message, cause) : cause
    }
  }

  #find(snapshotId: string): string | undefined {
    const name = this.keys().find((key) => key.slice(ID_AT) === snapshotId)
    return name === undefined ? undefined : join(this.#directory, name)
  }
}

function bytesOf(path: string): Buffer {
  const fd = open(path)
  try {
    if (fstatSync(fd).size > MAX_MANIFEST_BYTES) throw corrupt('it is too large')
    return readFileSync(fd)
  } finally {
    closeSync(fd)
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
