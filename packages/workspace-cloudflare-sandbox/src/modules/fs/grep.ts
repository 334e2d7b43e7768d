import { FileSystemError } from '@helix-agents/core'
import {
  compileSearch,
  createSearchPace,
  createTimeSlice,
  decodeText,
  fitsPathLimits,
  GrepCollector,
  type GrepOptions,
  type GrepResult,
  isBinary,
  joinPath,
  normalizePath,
  sortByCodePoint,
  type TextSearch,
} from '@helix-agents/core/provider'
import { toContainerPath } from '../container-path.ts'
import type { DriverFile, SearchOutcome } from '../../driver/port.ts'
import type { FileCalls } from '../../lifecycle/live-sandbox.ts'
import { INTERNAL_NAME, isInternal } from './glob.ts'

/** Bytes that are fetched together. */
const BATCH_BYTES = 4 * 1024 * 1024
/** Files that are fetched together, at first: a search that ends early wants few. */
const FIRST_BATCH = 32
const MAX_BATCH = 512
/** Work of a path, in units of about 20 ns. */
const UNITS_PER_PATH = 50

interface GrepRequest {
  readonly options: GrepOptions
  readonly maxFileBytes: number
  readonly maxFiles: number
}

/** A search on its way through the candidates. */
interface Scan {
  readonly sandbox: FileCalls
  readonly search: TextSearch
  readonly collector: GrepCollector
  readonly signal: AbortSignal | undefined
}

/**
 * Lines that match below a path. The container finds the files that hold the text which every
 * match must hold; only these are fetched, in batches, and matched here. A binary file without
 * that text holds no match and is not named.
 */
export async function grep(
  sandbox: FileCalls,
  pattern: string,
  { options, maxFileBytes, maxFiles }: GrepRequest,
): Promise<GrepResult> {
  const { signal } = options
  signal?.throwIfAborted()
  const search = await compileSearch(pattern, options)
  const path = normalizePath(options.path ?? '/')
  const collector = new GrepCollector(options)
  const outcome = await sandbox.callFile(path, ({ files }) =>
    files.search(toContainerPath(path), {
      literal: prefilterOf(search),
      ignoreCase: false,
      maxFileBytes: Math.min(collector.maxFileBytes, maxFileBytes),
      maxFiles,
      ...(path === '/' && { skip: INTERNAL_NAME }),
      ...(signal !== undefined && { signal }),
    }),
  )
  signal?.throwIfAborted()
  const request = { path, search, signal }
  const large = await included(outcome.tooLarge, request)
  for (const file of [...large.fitting, ...large.deep]) collector.skipLarge(file)
  const { fitting, deep } = await included(outcome.paths, request)
  for (const file of deep) collector.skipDeep(file)
  await scanFiles({ sandbox, search, collector, signal }, fitting)
  return withCompleteness(collector.result(), outcome)
}

/** Text that every file with a match holds, byte by byte; empty when nothing is certain. */
function prefilterOf({ requiredLiteral }: TextSearch): string {
  if (requiredLiteral === undefined || requiredLiteral.ignoreCase) return ''
  const { text } = requiredLiteral
  // U+FFFD also stands for invalid bytes; a line end may be spelled in two ways.
  return /[\uFFFD\0\r\n]/.test(text) || !text.isWellFormed() ? '' : text
}

interface IncludeRequest {
  readonly path: string
  readonly search: TextSearch
  readonly signal: AbortSignal | undefined
}

interface IncludedPaths {
  readonly fitting: readonly string[]
  /** Past the limits of paths. */
  readonly deep: readonly string[]
}

/** The paths that are searched, sorted. Yields to other work. */
async function included(
  relativePaths: readonly string[],
  { path, search, signal }: IncludeRequest,
): Promise<IncludedPaths> {
  const pace = createSearchPace()
  const [fitting, deep]: [string[], string[]] = [[], []]
  for (const relative of relativePaths) {
    if (path === '/' && isInternal(relative)) continue
    const file = relative === '' ? path : joinPath(path, relative)
    if (search.includes(file)) (fitsPathLimits(file) ? fitting : deep).push(file)
    const pause = pace.rest(UNITS_PER_PATH + file.length * search.unitsPerIncluded, signal)
    if (pause !== undefined) await pause
  }
  const sort = (files: string[]): Promise<string[]> =>
    sortByCodePoint(files, (file) => file, signal)
  return { fitting: await sort(fitting), deep: await sort(deep) }
}

function withCompleteness(result: GrepResult, outcome: SearchOutcome): GrepResult {
  return outcome.complete ? result : { ...result, countIsComplete: false }
}

async function scanFiles(scan: Scan, paths: readonly string[]): Promise<void> {
  const slice = createTimeSlice()
  let [next, size] = [0, FIRST_BATCH]
  while (next < paths.length && !scan.collector.full) {
    const files = await fetchFiles(scan, paths.slice(next, next + size))
    next += files.length
    size = Math.min(size * 2, MAX_BATCH)
    for (const file of files) {
      await scanFile(scan, file)
      if (scan.collector.full) return
      if (slice.due) await slice.pause()
      scan.signal?.throwIfAborted()
    }
  }
}

async function scanFile({ search, collector }: Scan, { path, bytes }: DriverFile): Promise<void> {
  // It was there a moment ago: it must not count as searched.
  if (bytes === undefined) return collector.skipLarge(path)
  if (isBinary(bytes)) collector.skipBinary(path)
  else await search.search(path, decodeText(bytes), collector)
}

/** As many of the files as fit, at least one. Paths are of the workspace. */
async function fetchFiles(scan: Scan, paths: readonly string[]): Promise<readonly DriverFile[]> {
  const { sandbox, signal } = scan
  const abort = { ...(signal !== undefined && { signal }) }
  const fetched = await sandbox.callFile('/', async ({ files }) =>
    files.readMany?.(paths.map(toContainerPath), { maxBytes: BATCH_BYTES, ...abort }),
  )
  signal?.throwIfAborted()
  if (fetched === undefined) return Promise.all(paths.map((path) => fetchFile(scan, path)))
  const found = paths.slice(0, fetched.length).map(async (path, index) => {
    const bytes = fetched[index]?.bytes
    // Too large to come with others, or gone.
    return bytes === undefined ? fetchFile(scan, path) : { path, bytes }
  })
  return Promise.all(found)
}

/** A file may vanish or change its kind while others are searched. */
async function fetchFile({ sandbox }: Scan, path: string): Promise<DriverFile> {
  try {
    const read = sandbox.callFile(path, ({ files }) => files.read(toContainerPath(path)))
    return { path, bytes: await read }
  } catch (error) {
    if (FileSystemError.isInstance(error)) return { path }
    throw error
  }
}
