import {
  createSearchPace,
  type FileEntry,
  type FileStat,
  joinPath,
  sortByCodePoint,
} from '@helix-agents/core/provider'
import type { DriverEntry } from '../../driver/port.ts'

/** @param path Of the workspace, normalised. */
export function toFileStat(path: string, entry: DriverEntry): FileStat {
  const { type } = entry
  return {
    path,
    type,
    size: type === 'directory' ? 0 : entry.sizeBytes,
    mtime: new Date(entry.modifiedAtMs),
    version: entry.version,
  }
}

/** Work of an entry, in units of about 20 ns. */
const UNITS_PER_ENTRY = 50

/** Children of a directory, sorted by name. Yields to other work. */
export async function toFileEntries(
  directory: string,
  entries: readonly DriverEntry[],
): Promise<FileEntry[]> {
  const sorted = await sortByCodePoint(entries, ({ path }) => path)
  const pace = createSearchPace()
  const found: FileEntry[] = []
  for (const entry of sorted) {
    found.push(toFileEntry(directory, entry))
    const pause = pace.rest(UNITS_PER_ENTRY, undefined)
    if (pause !== undefined) await pause
  }
  return found
}

function toFileEntry(directory: string, entry: DriverEntry): FileEntry {
  const { path: name, sizeBytes, type } = entry
  const path = joinPath(directory, name)
  return type === 'file' ? { name, path, type, size: sizeBytes } : { name, path, type }
}
