import { statIfPresent } from '../edit/rewrite-file.ts'
import type { FileSystem } from '../contract.ts'
import { filesBelow } from '../path/subtree.ts'

/** Larger files count by their version, which a restored workspace does not keep. */
const MAX_DIGESTED_BYTES = 10 * 1_048_576
/** Entries of a directory that count. */
const MAX_ENTRIES = 10_000

const encoder = new TextEncoder()

/**
 * What is at a path, as a short text that changes with it: the digest of a file, also across restarts
 * and restored workspaces; of a directory the names and sizes below it.
 * @returns `null` when nothing is there
 */
export async function fingerprint(
  fs: FileSystem,
  path: string,
  signal?: AbortSignal,
): Promise<string | null> {
  const stat = await statIfPresent(fs, path)
  if (stat === undefined) return null
  if (stat.type === 'directory') return `tree:${await digest(await listing(fs, path, signal))}`
  if (stat.type !== 'file' || stat.size > MAX_DIGESTED_BYTES) return `version:${stat.version}`
  return `sha256:${await digest(await fs.readFile(path))}`
}

async function listing(
  fs: FileSystem,
  root: string,
  signal: AbortSignal | undefined,
): Promise<Uint8Array<ArrayBuffer>> {
  const lines: string[] = []
  for await (const { path, type, size } of filesBelow(fs, root)) {
    signal?.throwIfAborted()
    lines.push(JSON.stringify([path, type, size]))
    if (lines.length >= MAX_ENTRIES) break
  }
  return encoder.encode(lines.toSorted().join('\n'))
}

async function digest(bytes: Uint8Array): Promise<string> {
  const hash = await crypto.subtle.digest('SHA-256', new Uint8Array(bytes))
  return Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
