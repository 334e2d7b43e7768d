import {
  compareCodePoints,
  type FileEntry,
  type FileStat,
  type FileType,
  joinPath,
} from '@helix-agents/core'
import type { DriverEntry } from '../driver/port.ts'

/** @param path Of the workspace, normalised. */
export function toFileStat(path: string, entry: DriverEntry): FileStat {
  const type = toFileType(entry)
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
  const { path: name, sizeBytes } = entry
  const [path, type] = [joinPath(directory, name), toFileType(entry)]
  return type === 'file' ? { name, path, type, size: sizeBytes } : { name, path, type }
}

/** Pipes, sockets and devices are listed as files; reading one is refused. */
function toFileType({ type }: DriverEntry): FileType {
  return type === 'other' ? 'file' : type
}
