import {
  compileSearch,
  createTimeSlice,
  GrepCollector,
  type GrepOptions,
  type GrepResult,
  INTERNAL_DIRECTORY,
  isWithin,
  normalizePath,
  type TextSearch,
} from '@helix-agents/core/provider'
import type { StoreContext } from '../store-context.ts'
import { requireNode } from '../tree/find-node.ts'
import { flags, hasFlag } from '../tree/node.ts'
import { subtreeOf } from '../tree/place.ts'
import { findCandidates, type Rest } from './find-candidates.ts'
import { createTextLoader, type TextLoader } from './load-texts.ts'
import { createPrefilter } from './prefilter.ts'
import { type Walk, walkFiles, type WalkedFile, type WalkStep } from './walk.ts'

/** Files searched together: the bound parameters of a statement are at most 100. */
const BATCH_FILES = 90
/** Bytes searched together, and at least so many between two pauses. */
const BATCH_BYTES = 1024 * 1024
const BYTES_PER_SLICE = 16 * BATCH_BYTES
/** What a file costs besides its bytes, and a unit of work of `includes`: 20 ms are a slice. */
const BYTES_PER_FILE = 4096
const BYTES_PER_UNIT = 16
/** A pause takes more than a millisecond here, and an object has few others to let run. */
const SLICE_MS = 20

/** A search on its way through the files. */
interface Scan {
  readonly context: StoreContext
  readonly search: TextSearch
  readonly collector: GrepCollector
  readonly loader: TextLoader
  readonly signal: AbortSignal | undefined
}

/**
 * Lines that match below a path. Files are searched in the order of their paths, in batches;
 * where every match holds a known text, the database finds the files that have it, and no other
 * is read.
 */
export async function grep(
  context: StoreContext,
  pattern: string,
  options: GrepOptions,
): Promise<GrepResult> {
  options.signal?.throwIfAborted()
  const search = await compileSearch(pattern, options)
  options.signal?.throwIfAborted()
  const path = normalizePath(options.path ?? '/')
  const { content } = requireNode(context, path)
  const collector = new GrepCollector(options)
  const literal = createPrefilter(search)
  const loader = createTextLoader(context, literal)
  const scan: Scan = { context, search, collector, loader, signal: options.signal }
  // Where only some names are wanted, only their files are searched.
  const filter =
    literal === undefined || options.includeGlob !== undefined
      ? undefined
      : { literal, maxBytes: largestSearched(scan) }
  const files = content === undefined ? await filesBelow(scan, path, filter) : [{ path, content }]
  await scanFiles(scan, files)
  return collector.result()
}

async function filesBelow(
  { context, signal }: Scan,
  path: string,
  filter: Walk['filter'],
): Promise<Iterable<WalkStep>> {
  if (filter !== undefined) {
    const pace = createPace(signal)
    const candidates = await findCandidates(context, path, { filter, rest: pace.rest })
    if (candidates !== undefined) return candidates
  }
  const skipInternal = !isWithin(path, INTERNAL_DIRECTORY)
  const internal = `${INTERNAL_DIRECTORY}/`
  const enters = (directory: string): boolean => !skipInternal || directory !== internal
  return walkFiles(context, subtreeOf(path).start, { enters, filter })
}

async function scanFiles(scan: Scan, steps: Iterable<WalkStep>): Promise<void> {
  const pace = createPace(scan.signal)
  let batch: WalkedFile[] = []
  let batchBytes = 0
  let bytes = 0
  for (const step of steps) {
    let isDone = false
    if ('bytes' in step) {
      bytes += step.bytes
      isDone = true
    } else {
      bytes += BYTES_PER_FILE + step.path.length * scan.search.unitsPerIncluded * BYTES_PER_UNIT
      if (scan.search.includes(step.path)) {
        batch.push(step)
        batchBytes += isSearched(scan, step) ? step.content.size : 0
      }
      const isFull = batch.length === BATCH_FILES || batchBytes >= BATCH_BYTES
      isDone = isFull || bytes >= BATCH_BYTES
    }
    if (!isDone) continue
    if (!(await scanBatch(scan, batch))) return
    await pace.rest(bytes + batchBytes)
    batch = []
    batchBytes = 0
    bytes = 0
  }
  await scanBatch(scan, batch)
}

/** Lets others run now and then. */
interface Pace {
  readonly rest: Rest
}

/** The clock of a Worker stands still during work: bytes stand in for time. */
function createPace(signal: AbortSignal | undefined): Pace {
  const slice = createTimeSlice(SLICE_MS)
  let bytes = 0
  return {
    async rest(added) {
      bytes += added
      if (bytes < BYTES_PER_SLICE && !slice.due) return
      bytes = 0
      await slice.pause()
      signal?.throwIfAborted()
    },
  }
}

/** Searches a batch. False: there are more matches than wanted. */
async function scanBatch(scan: Scan, batch: readonly WalkedFile[]): Promise<boolean> {
  if (batch.length === 0) return true
  const texts = scan.loader.load(batch.filter((file) => isSearched(scan, file)))
  for (const file of batch) {
    if (isTooLarge(scan, file)) scan.collector.skipLarge(file.path)
    else if (hasFlag(file.content, flags.binary)) scan.collector.skipBinary(file.path)
    else await searchFile(scan, file, texts)
    if (scan.collector.full) return false
  }
  return true
}

async function searchFile(
  scan: Scan,
  file: WalkedFile,
  texts: ReadonlyMap<number, string | null>,
): Promise<void> {
  const { loader, search, collector } = scan
  const loaded = texts.get(file.content.id)
  if (loaded === null) return
  const text = loaded ?? (await loader.loadAlone(file))
  if (text !== undefined) await search.search(file.path, text, collector)
}

function isSearched(scan: Scan, file: WalkedFile): boolean {
  return !isTooLarge(scan, file) && !hasFlag(file.content, flags.binary)
}

function isTooLarge(scan: Scan, file: WalkedFile): boolean {
  return file.content.size > largestSearched(scan)
}

function largestSearched({ collector, context }: Scan): number {
  return Math.min(collector.maxFileBytes, context.limits.maxWholeReadBytes)
}
