import { compareCodePoints, normalizePath } from '../path/path.ts'
import type { FileSystem } from '../contract.ts'
import { compileGlob } from './glob.ts'
import type { WorkTurn } from '../edit/work-turn.ts'

/** Whether a pattern asks for directories: it ends with a slash. */
export function isDirectoryPattern(pattern: string): boolean {
  return pattern.endsWith('/') && /[^/]/.test(pattern)
}

/** A search for directories, and what it may use. */
export interface DirectorySearch {
  readonly path: string
  readonly turn: WorkTurn
  readonly signal?: AbortSignal
}

/**
 * The directories that match a pattern and have files somewhere below them, sorted, each with a
 * slash at its end. They are taken from the paths of the files, so that policy and limits of a
 * search hold for them as they are.
 *
 * @throws {FileSystemError} as `glob`.
 */
export async function globDirectories(
  fs: FileSystem,
  pattern: string,
  { path, turn, signal }: DirectorySearch,
): Promise<string[]> {
  const own = pattern.replace(/\/+$/, '')
  const matcher = compileGlob(own)
  const files = await fs.glob(`${own}/**`, { path, ...(signal !== undefined && { signal }) })
  const root = normalizePath(path)
  const start = root === '/' ? 1 : root.length + 1
  const found = new Set<string>()
  let above = ''
  for (const [index, file] of files.entries()) {
    if (index % 64 === 0 && turn.due) await turn.pause()
    const directory = file.slice(0, file.lastIndexOf('/') + 1)
    // Files come by directory: most are in that of the file before.
    if (directory === above) continue
    above = directory
    for (let end = file.indexOf('/', start); end >= 0; end = file.indexOf('/', end + 1)) {
      const name = file.slice(start, end)
      if (matcher.matches(name)) found.add(`${file.slice(0, end)}/`)
    }
  }
  return [...found].toSorted(compareCodePoints)
}
