import { compareCodePoints, type FileEntry, type FileStat, joinPath } from '@helix-agents/core'
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
export function toFileEntries(directory: string, entries: readonly DriverEntry[]): FileEntry[] {
  return entries
    .map((entry) => toFileEntry(directory, entry))
    .toSorted((a, b) => compareCodePoints(a.name, b.name))
}

function toFileEntry(directory: string, entry: DriverEntry): FileEntry {
  const { path: name, sizeBytes, type } = entry
  const path = joinPath(directory, name)
  return type === 'file' ? { name, path, type, size: sizeBytes } : { name, path, type }
}
