import * as z from 'zod'
import { SnapshotStoreError } from '../errors/snapshot-store-error.ts'
import { createTimeSlice } from '../time/slice.ts'
import { checkTree } from './check-tree.ts'
import { digestOnce } from './digest.ts'
import { EncodedRuns, joinParts } from './encoded-runs.ts'
import {
  SNAPSHOT_BLOCK_BYTES,
  SNAPSHOT_FORMAT_VERSION,
  type SnapshotEntry,
  type SnapshotHeader,
  type SnapshotLimits,
  type SnapshotManifest,
  snapshotLimits,
} from './manifest.ts'

const LINE_FEED = 10

const hash = z.string().regex(/^[0-9a-f]{64}$/)
const text = z.string().min(1).max(512)
const mode = z.number().int().min(0).max(0o777).exactOptional()
const path = z.string().min(2).max(4096)
const count = z.number().int().nonnegative()

const headerSchema = z.strictObject({
  formatVersion: z.literal(SNAPSHOT_FORMAT_VERSION),
  snapshotId: z.string().regex(/^[A-Za-z0-9_-]{16,128}$/),
  createdAt: count,
  sessionId: text,
  agentType: text,
  workspace: text,
  providerId: text,
  workspaceId: text,
  parent: z
    .string()
    .regex(/^[A-Za-z0-9_-]{16,128}$/)
    .exactOptional(),
  kept: z.literal(true).exactOptional(),
  entries: count,
  bytes: count,
  digest: hash,
})

const entrySchema = z.discriminatedUnion('type', [
  z
    .strictObject({
      path,
      type: z.literal('file'),
      size: count,
      blocks: z.array(hash),
      mode,
      version: z.string().max(1024).exactOptional(),
    })
    .refine(({ size, blocks }) => blocks.length === Math.ceil(size / SNAPSHOT_BLOCK_BYTES), {
      path: ['blocks'],
      message: `is not one hash for each ${SNAPSHOT_BLOCK_BYTES} bytes`,
    }),
  z.strictObject({ path, type: z.literal('directory'), mode }),
  z.strictObject({ path, type: z.literal('symlink'), target: z.string().min(1).max(4096) }),
])

/**
 * A manifest as it is stored: the JSON of its header, then of each entry, one a line.
 * @throws {SnapshotStoreError} `invalid-manifest` for a header that could not be read again. Stores make
 * names of its id.
 */
export async function encodeManifest(manifest: SnapshotManifest): Promise<Uint8Array<ArrayBuffer>> {
  return joinParts(await encodeManifestParts(manifest))
}

/**
 * The same in consecutive parts. Nobody writes to them: one in which nothing changed is the array that
 * an earlier manifest with the same entries got.
 * @throws {SnapshotStoreError} as `encodeManifest` does.
 */
export async function encodeManifestParts(
  manifest: SnapshotManifest,
): Promise<readonly Uint8Array<ArrayBuffer>[]> {
  const header = JSON.stringify(manifest.header)
  parseHeader(header)
  const lines = await encodedRuns.partsOf(manifest.entries)
  return [new TextEncoder().encode(`${header}\n`), ...lines]
}

const encodedRuns = new EncodedRuns((entry) => `${JSON.stringify(entry)}\n`)

/**
 * Reads a stored or imported manifest strictly: every field, the limits, the order, the paths and
 * links (none leaves the root or passes through a link), the totals and the digest.
 * @throws {SnapshotStoreError} `invalid-manifest`, naming the line.
 */
export async function parseManifest(
  bytes: Uint8Array,
  limits: SnapshotLimits = snapshotLimits,
): Promise<SnapshotManifest> {
  const slice = createTimeSlice()
  const lines = linesOf(bytes)
  const first = lines.next()
  const header = parseHeader(first.value ?? '')
  if (header.entries > limits.maxEntries) throw tooLarge('entries', limits.maxEntries)
  const entries: SnapshotEntry[] = []
  for (const line of lines) {
    if (slice.due) await slice.pause()
    if (entries.length === header.entries) throw invalid('it has more entries than its header says')
    entries.push(parseLine(entrySchema, line, entries.length + 2))
  }
  const manifest = { header, entries }
  await checkManifest(manifest, limits)
  return manifest
}

/** Reads the first line of a stored manifest. @throws {SnapshotStoreError} `invalid-manifest` */
export function parseHeader(line: string): SnapshotHeader {
  return parseLine(headerSchema, line, 1)
}

/**
 * Checks what concerns more than one entry.
 * @throws {SnapshotStoreError} `invalid-manifest`
 */
export async function checkManifest(
  { header, entries }: SnapshotManifest,
  limits: SnapshotLimits = snapshotLimits,
): Promise<void> {
  if (entries.length > limits.maxEntries) throw tooLarge('entries', limits.maxEntries)
  if (entries.length !== header.entries) throw invalid('its header has another number of entries')
  const { problem, bytes } = await checkTree(entries)
  if (problem !== undefined) throw invalid(problem)
  if (bytes > limits.maxTotalBytes) throw tooLarge('bytes', limits.maxTotalBytes)
  if (bytes !== header.bytes) throw invalid('its header has another number of bytes')
  if ((await digestOnce(entries)) !== header.digest) {
    throw invalid('its entries do not match its digest')
  }
}

function* linesOf(bytes: Uint8Array): Generator<string, undefined> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  for (let start = 0; start < bytes.length;) {
    const end = bytes.indexOf(LINE_FEED, start)
    if (end < 0) throw invalid('its last line is cut off')
    try {
      yield decoder.decode(bytes.subarray(start, end))
    } catch (cause) {
      throw invalid('it is not UTF-8', cause)
    }
    start = end + 1
  }
}

function parseLine<S extends z.ZodType>(schema: S, line: string, number: number): z.output<S> {
  const parsed = schema.safeParse(parseJson(line, number))
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const field = issue?.path.join('.') ?? ''
  throw invalid(`line ${number}${field === '' ? '' : `, ${field}`}: ${issue?.message ?? ''}`)
}

function parseJson(line: string, number: number): unknown {
  try {
    return JSON.parse(line)
  } catch (cause) {
    throw invalid(`line ${number} is not JSON`, cause)
  }
}

function tooLarge(what: string, limit: number): SnapshotStoreError {
  return invalid(`it has more than ${limit} ${what}`)
}

function invalid(problem: string, cause?: unknown): SnapshotStoreError {
  return new SnapshotStoreError('invalid-manifest', `the manifest is not valid: ${problem}`, {
    ...(cause !== undefined && { cause }),
  })
}
