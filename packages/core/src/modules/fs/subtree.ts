import type { FileEntry, FileSystem } from './contract.ts'
import { normalizePath } from './path.ts'

/** A path of a subtree; the size is 0 for what is not a file. */
export interface SubtreeEntry {
  readonly path: string
  readonly type: FileEntry['type']
  readonly size: number
}

/** The path itself and all below it. Links are listed, not followed. */
export async function* filesBelow(fs: FileSystem, path: string): AsyncGenerator<SubtreeEntry> {
  const root = await fs.stat(normalizePath(path))
  yield root
  const open = root.type === 'directory' ? [root.path] : []
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const entry of await fs.ls(next)) {
      yield { path: entry.path, type: entry.type, size: entry.size ?? 0 }
      if (entry.type === 'directory') open.push(entry.path)
    }
  }
}
