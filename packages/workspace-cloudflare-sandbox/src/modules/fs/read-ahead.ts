import type { FileEntry, PathAhead, ReadAheadOptions } from '@helix-agents/core/provider'
import type { FileCalls } from '../../lifecycle/live-sandbox.ts'
import { toContainerPath } from '../container-path.ts'
import { toFileStat } from './entries.ts'

/** Bytes that are read together; the files after them are read by themselves. */
const BYTES_TOGETHER = 8 * 1024 * 1024
/** Larger files are read by themselves. */
const LARGEST_BYTES = 256 * 1024

/** @param sandbox Calls on files, for paths without links. */
export async function readAhead(
  sandbox: FileCalls,
  entries: readonly FileEntry[],
  { isKnown, signal }: ReadAheadOptions,
): Promise<Map<string, PathAhead>> {
  const paths = entries.filter(({ type }) => type !== 'symlink').map(({ path }) => path)
  const found = await describePaths(sandbox, paths, signal)
  let left = BYTES_TOGETHER
  const wanted = [...found.values()].filter(({ stat }) => {
    const isWanted = stat.type === 'file' && stat.size <= Math.min(LARGEST_BYTES, left)
    if (!isWanted || isKnown(stat)) return false
    left -= stat.size
    return true
  })
  const contents = await readAll(
    sandbox,
    wanted.map(({ stat }) => stat.path),
    signal,
  )
  const after = await describePaths(sandbox, [...contents.keys()], signal)
  for (const [path, bytes] of contents) {
    const ahead = found.get(path)
    const isSame = ahead?.stat.version === after.get(path)?.stat.version
    if (ahead !== undefined && isSame) found.set(path, { ...ahead, bytes })
    else found.delete(path)
  }
  return found
}

/** What is at paths, as far as something is, and no link. */
export async function describePaths(
  sandbox: FileCalls,
  paths: readonly string[],
  signal?: AbortSignal,
): Promise<Map<string, PathAhead>> {
  if (paths.length === 0) return new Map()
  const entries = await sandbox.callFile('/', async ({ files }) =>
    files.attributes?.statMany(paths.map(toContainerPath), signal),
  )
  return new Map(
    paths.flatMap((path, index) => {
      const entry = entries?.[index]
      if (entry === undefined) return []
      return [[path, { stat: toFileStat(path, entry), mode: entry.mode }] as const]
    }),
  )
}

async function readAll(
  sandbox: FileCalls,
  paths: readonly string[],
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<string, Uint8Array>> {
  const contents = new Map<string, Uint8Array>()
  const options = { maxBytes: BYTES_TOGETHER, ...(signal && { signal }) }
  let next = 0
  while (next < paths.length) {
    const asked = paths.slice(next)
    const read = await sandbox.callFile('/', async ({ files }) =>
      files.readMany?.(asked.map(toContainerPath), options),
    )
    if (read === undefined || read.length === 0) break
    for (const [index, path] of asked.slice(0, read.length).entries()) {
      const bytes = read[index]?.bytes
      if (bytes !== undefined) contents.set(path, bytes)
    }
    next += read.length
  }
  return contents
}
