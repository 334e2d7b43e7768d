import { type FileEntry, type FileStat, joinPath, sortByCodePoint } from '@helix-agents/core'
import type { DriverEntry } from '../driver/port.ts'

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

/** Children of a directory, sorted by name. */
export async function toFileEntries(
  directory: string,
  entries: readonly DriverEntry[],
): Promise<FileEntry[]> {
  const sorted = await sortByCodePoint(entries, ({ path }) => path)
  return sorted.map((entry) => toFileEntry(directory, entry))
}

function toFileEntry(directory: string, entry: DriverEntry): FileEntry {
  const { path: name, sizeBytes, type } = entry
  const path = joinPath(directory, name)
  return type === 'file' ? { name, path, type, size: sizeBytes } : { name, path, type }
}
