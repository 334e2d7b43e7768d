import type { FileStat, FileSystem } from '../contract.ts'
import { statIfPresent } from '../edit/rewrite-file.ts'
import { filesBelow } from '../path/subtree.ts'

/** Entries of a directory that are counted. */
const MAX_COUNTED = 10_000
/** Entries that are named. */
const MAX_NAMED = 50

/** What is at a path, for a person. */
export interface Target {
  /** Such as `a directory with 3 files, 120 bytes`. */
  readonly summary: string
  /** The first paths below a directory, with their sizes. */
  readonly names: readonly string[]
  /** There are more names. */
  readonly isCut: boolean
}

/** Describes a file, or a directory and what lies below it; `isTree: false` does not look below. */
export async function describeTarget(
  fs: FileSystem,
  path: string,
  { isTree = true, signal }: { readonly isTree?: boolean; readonly signal?: AbortSignal } = {},
): Promise<Target> {
  const stat = await statIfPresent(fs, path)
  if (stat === undefined) return { summary: 'nothing is there', names: [], isCut: false }
  if (stat.type !== 'directory') return { summary: sizeOf(stat), names: [], isCut: false }
  if (!isTree) return { summary: 'a directory', names: [], isCut: false }
  return describeTree(fs, stat.path, signal)
}

async function describeTree(
  fs: FileSystem,
  path: string,
  signal: AbortSignal | undefined,
): Promise<Target> {
  const names: string[] = []
  let [files, directories, bytes] = [0, 0, 0]
  for await (const entry of filesBelow(fs, path)) {
    signal?.throwIfAborted()
    if (entry.path === path) continue
    if (entry.type === 'directory') directories += 1
    else files += 1
    bytes += entry.size
    if (names.length < MAX_NAMED) {
      names.push(entry.type === 'directory' ? `${entry.path}/` : `${entry.path}  ${entry.size}`)
    }
    if (files + directories >= MAX_COUNTED) break
  }
  const count = files + directories
  const more = count >= MAX_COUNTED ? 'at least ' : ''
  const below = directories === 0 ? '' : `${plural(directories, 'directory', 'directories')}, `
  const summary = `a directory with ${more}${below}${plural(files, 'file', 'files')}, ${plural(bytes, 'byte', 'bytes')}`
  return { summary, names, isCut: count > names.length }
}

function sizeOf({ type, size }: FileStat): string {
  return type === 'file' ? `a file of ${plural(size, 'byte', 'bytes')}` : type
}

/** A number with its noun. */
export function plural(count: number, one: string, many: string): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`
}
