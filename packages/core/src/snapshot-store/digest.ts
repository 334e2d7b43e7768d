import { EncodedRuns, joinParts } from './encoded-runs.ts'
import type { SnapshotEntry } from './manifest.ts'

/** SHA-256 in lower-case hexadecimal. */
export async function sha256(bytes: Uint8Array): Promise<string> {
  const source = isUnshared(bytes) ? bytes : new Uint8Array(bytes)
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', source))
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/**
 * SHA-256 of the canonical entries: of each, in the order of paths, the JSON text of an array and a
 * line feed. The array is `["file", path, mode, size, blocks]`, `["directory", path, mode]` or
 * `["symlink", path, target]`; a mode that is not known is `null`. Versions are left out.
 */
export async function digestEntries(entries: readonly SnapshotEntry[]): Promise<string> {
  return digestOf(entries, canonicalRuns)
}

/** The same of entries that were just read: their lines are not remembered. */
export async function digestOnce(entries: readonly SnapshotEntry[]): Promise<string> {
  return digestOf(entries, new EncodedRuns(toCanonicalLine))
}

async function digestOf(entries: readonly SnapshotEntry[], runs: EncodedRuns): Promise<string> {
  return sha256(await joinParts(await runs.partsOf(entries)))
}

const canonicalRuns = new EncodedRuns(toCanonicalLine)

function toCanonicalLine(entry: SnapshotEntry): string {
  return `${JSON.stringify(canonicalFields(entry))}\n`
}

function canonicalFields(entry: SnapshotEntry): readonly unknown[] {
  if (entry.type === 'symlink') return [entry.type, entry.path, entry.target]
  const shared = [entry.type, entry.path, entry.mode ?? null]
  return entry.type === 'directory' ? shared : [...shared, entry.size, entry.blocks]
}

function isUnshared(bytes: Uint8Array): bytes is Uint8Array<ArrayBuffer> {
  return bytes.buffer instanceof ArrayBuffer
}
