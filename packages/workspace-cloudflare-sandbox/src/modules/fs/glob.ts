import { FileSystemError } from '@helix-agents/core'
import {
  compileGlob,
  createSearchPace,
  fitsPathLimits,
  type GlobMatcher,
  type GlobOptions,
  INTERNAL_DIRECTORY,
  joinPath,
  normalizePath,
  sortByCodePoint,
} from '@helix-agents/core/provider'
import { toContainerPath } from '../container-path.ts'
import type { DriverEntry } from '../../driver/port.ts'
import type { FileCalls } from '../../lifecycle/live-sandbox.ts'

/** Relative to the root of the workspace. */
export const INTERNAL_NAME = INTERNAL_DIRECTORY.slice(1)

interface GlobRequest {
  readonly options: GlobOptions
  readonly maxEntries: number
}

/**
 * Paths of the files that match, sorted: one listing in the container, matched here. A link to a
 * file of the workspace counts as a file; each such link is resolved.
 */
export async function glob(
  sandbox: FileCalls,
  pattern: string,
  { options, maxEntries }: GlobRequest,
): Promise<string[]> {
  const { signal, limit = Number.POSITIVE_INFINITY } = options
  signal?.throwIfAborted()
  const matcher = compileGlob(pattern)
  const path = normalizePath(options.path ?? '/')
  const entries = await listTree(sandbox, path, { maxEntries, signal })
  const found: string[] = []
  const pace = createSearchPace()
  for (const entry of await sortByCodePoint(entries, pathOf, signal)) {
    if (found.length >= limit) break
    const filePath = joinPath(path, entry.path)
    const pause = pace.rest(filePath.length * matcher.unitsPerCharacter, signal)
    if (pause !== undefined) await pause
    if (!isMatch(matcher, entry, { path, filePath })) continue
    if (await leadsToFile(sandbox, entry, filePath)) found.push(filePath)
    signal?.throwIfAborted()
  }
  return found
}

async function listTree(
  sandbox: FileCalls,
  path: string,
  { maxEntries, signal }: { readonly maxEntries: number; readonly signal: AbortSignal | undefined },
): Promise<readonly DriverEntry[]> {
  const entries = await sandbox.callFile(path, ({ files }) =>
    files.list(toContainerPath(path), {
      recursive: true,
      maxEntries,
      ...(path === '/' && { skip: INTERNAL_NAME }),
      ...(signal !== undefined && { signal }),
    }),
  )
  signal?.throwIfAborted()
  return entries
}

/** What a search of the whole workspace leaves out. */
export function isInternal(relativePath: string): boolean {
  return relativePath === INTERNAL_NAME || relativePath.startsWith(`${INTERNAL_NAME}/`)
}

function isMatch(
  matcher: GlobMatcher,
  entry: DriverEntry,
  { path, filePath }: { readonly path: string; readonly filePath: string },
): boolean {
  if (path === '/' && isInternal(entry.path)) return false
  const isWanted = entry.type === 'file' || entry.type === 'symlink'
  return isWanted && matcher.matches(entry.path) && fitsPathLimits(filePath)
}

function pathOf({ path }: DriverEntry): string {
  return path
}

async function leadsToFile(
  sandbox: FileCalls,
  { type }: DriverEntry,
  path: string,
): Promise<boolean> {
  if (type === 'file') return true
  try {
    const entry = await sandbox.callFile(path, ({ files }) => files.stat(toContainerPath(path)))
    return entry.type === 'file'
  } catch (error) {
    if (FileSystemError.isInstance(error)) return false
    throw error
  }
}
