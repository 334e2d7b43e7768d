import { FileSystemError } from '@helix-agents/core'
import {
  compileGlob,
  compileSearch,
  createTimeSlice,
  GrepCollector,
  type GlobMatcher,
  type GlobOptions,
  type GrepOptions,
  type GrepResult,
  INTERNAL_DIRECTORY,
  isWithin,
  joinPath,
  normalizePath,
  type TextSearch,
  type TimeSlice,
} from '@helix-agents/core/provider'
import { contentText, isBinaryFile } from './content/content.ts'
import { createContentFilter } from './content/content-filter.ts'
import type { FileTree } from './file-tree.ts'
import { DirectoryNode, FileNode, type TreeNode } from './nodes.ts'

/** Bytes between two checks of the clock; a file counts as at least a few. */
const BYTES_PER_CHECK = 64 * 1024
/** Checks that are a slice of time where the clock stands still. */
const CHECKS_WITHOUT_CLOCK = 32
const MIN_FILE_BYTES = 2048

/** Limits a walk; `visit` returns false to end it. */
interface Walk {
  readonly slice: TimeSlice
  readonly signal: AbortSignal | undefined
  readonly skipInternal: boolean
  /** Work of a visit, in bytes that are as much work. */
  costOf(path: string, file: FileNode): number
  enters(directory: string): boolean
  visit(path: string, file: FileNode): boolean | Promise<boolean>
}

/** Paths of matching files below a directory, sorted. */
export async function globTree(
  tree: FileTree,
  pattern: string,
  options: GlobOptions,
): Promise<string[]> {
  options.signal?.throwIfAborted()
  const matcher = compileGlob(pattern)
  const path = normalizePath(options.path ?? '/')
  const start = tree.find(path)
  if (start === undefined) throw new FileSystemError('not-found', path)
  const found: string[] = []
  const limit = options.limit ?? Infinity
  const offset = path === '/' ? 1 : path.length + 1
  const base = matcher.base === '' ? path : joinPath(path, matcher.base)
  const baseNode = base === path ? start : tree.find(base)
  if (!(baseNode instanceof DirectoryNode) || limit <= 0) return found
  await walkTree(baseNode, base, {
    slice: createTimeSlice(undefined, CHECKS_WITHOUT_CLOCK),
    signal: options.signal,
    skipInternal: !isWithin(path, INTERNAL_DIRECTORY),
    costOf: (file) => file.length * matcher.unitsPerCharacter,
    enters: (directory) => mayEnter(matcher, directory, offset),
    visit: (file) => {
      if (matcher.matches(file.slice(offset))) found.push(file)
      return found.length < limit
    },
  })
  return found
}

function mayEnter(matcher: GlobMatcher, directory: string, offset: number): boolean {
  return matcher.mayContain(directory.slice(offset))
}

/** Matching lines of the text files below a path. */
export async function grepTree(
  tree: FileTree,
  pattern: string,
  options: GrepOptions,
): Promise<GrepResult> {
  options.signal?.throwIfAborted()
  const search = await compileSearch(pattern, options)
  options.signal?.throwIfAborted()
  const path = normalizePath(options.path ?? '/')
  const start = tree.find(path)
  if (start === undefined) throw new FileSystemError('not-found', path)
  const collector = new GrepCollector(options)
  const searchOne = fileSearch(search, collector)
  if (start instanceof FileNode) await searchOne(path, start)
  else {
    await walkTree(start, path, {
      slice: createTimeSlice(undefined, CHECKS_WITHOUT_CLOCK),
      signal: options.signal,
      skipInternal: !isWithin(path, INTERNAL_DIRECTORY),
      costOf: (file, { size }) => size + file.length * search.unitsPerIncluded,
      enters: () => true,
      visit: searchOne,
    })
  }
  return collector.result()
}

/** Searches one file; most are passed over by the literal that every match must hold. */
function fileSearch(
  search: TextSearch,
  collector: GrepCollector,
): (path: string, file: FileNode) => boolean | Promise<boolean> {
  const literal = search.requiredLiteral
  const mayMatch =
    literal === undefined || literal.ignoreCase ? () => true : createContentFilter(literal.text)
  return (path, file) => {
    if (!search.includes(path)) return true
    if (file.size > collector.maxFileBytes) collector.skipLarge(path)
    else if (isBinaryFile(file)) collector.skipBinary(path)
    else if (mayMatch(file.content)) {
      const pending = search.search(path, contentText(file.content), collector)
      if (pending !== undefined) return pending.then(() => !collector.full)
    }
    return !collector.full
  }
}

/**
 * Visits every file in the order of sorted paths, without ever holding the event loop for long.
 * Files that appear or vanish during a pause may or may not be seen.
 */
async function walkTree(start: DirectoryNode, path: string, walk: Walk): Promise<void> {
  const stack = [openFrame(start, path)]
  let unseenBytes = 0
  for (let frame = stack.at(-1); frame !== undefined; frame = stack.at(-1)) {
    const index = frame.next++
    const [node, childPath] = [frame.nodes[index], frame.paths[index]]
    if (node === undefined || childPath === undefined) stack.pop()
    else if (node instanceof FileNode) {
      if (!(await walk.visit(childPath, node))) return
      unseenBytes += Math.max(walk.costOf(childPath, node), MIN_FILE_BYTES)
    } else if (entersDirectory(walk, childPath)) stack.push(openFrame(node, childPath))
    if (unseenBytes < BYTES_PER_CHECK) continue
    unseenBytes = 0
    if (!walk.slice.due) continue
    await walk.slice.pause()
    walk.signal?.throwIfAborted()
  }
}

interface Frame {
  readonly nodes: readonly TreeNode[]
  readonly paths: readonly string[]
  next: number
}

function openFrame(directory: DirectoryNode, path: string): Frame {
  const { nodes, paths } = directory.walk(path)
  return { nodes, paths, next: 0 }
}

function entersDirectory(walk: Walk, path: string): boolean {
  if (walk.skipInternal && path === INTERNAL_DIRECTORY) return false
  return walk.enters(path)
}
