import { createHash } from 'node:crypto'
import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync } from 'node:fs'
import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { envSchema, isolationSchema } from './config.ts'
import { unguessableName } from './file-system/path/unguessable-name.ts'
import { bootId, isEnded, processPlace, readProcess } from './shell/processes/process-table.ts'

/** Name of the marker's file. */
export const MARKER_NAME = 'owner.json'
const MAX_MARKER_BYTES = 1024 * 1024

const ownerSchema = z.strictObject({
  format: z.literal(1),
  /** Process that uses the workspace; absent while it is detached. */
  process: z
    .strictObject({
      pid: z.number().int().positive(),
      startTime: z.number(),
      bootId: z.string(),
      /** Where the id is one; absent in markers of older releases. */
      place: z.string().optional(),
    })
    .optional(),
  /**
   * Hash of the session id: distinguishes sessions without naming them. Absent: a workspace that was
   * restored, and that no session has used yet.
   */
  session: z.string().exactOptional(),
  /** Absent in markers of older releases. */
  isolation: isolationSchema.exactOptional(),
  /** Shared with the workspaces that were restored from its snapshots. */
  line: z.string().exactOptional(),
  /** What the snapshot did not hold that it was restored from, until a receipt has said so. */
  lost: z.string().exactOptional(),
  /** When it was attached or detached, in milliseconds since the epoch. */
  sinceMs: z.number(),
  /** Variables of the declaration, for an owner that attaches again. */
  env: envSchema,
})

/** Says whose a workspace directory is; outside of what the agent's file tools reach. */
export type OwnerMarker = Readonly<z.output<typeof ownerSchema>>

/** The marker of a workspace that this process uses. */
export function ownMarker(details: Omit<OwnerMarker, 'format' | 'process'>): OwnerMarker {
  const { pid } = process
  const startTime = readProcess(pid)?.startTime ?? 0
  const own = { pid, startTime, bootId: bootId(), place: processPlace() }
  return { format: 1, process: own, ...details }
}

/** The same without an owner: to be attached again. */
export function detachedMarker(marker: OwnerMarker, sinceMs: number): OwnerMarker {
  const { process: _, ...kept } = marker
  return { ...kept, sinceMs }
}

export function hashSession(sessionId: string): string {
  return createHash('sha256').update(sessionId).digest('hex')
}

/** Replaces the marker in one step. */
export function writeOwner(directory: string, marker: OwnerMarker): void {
  const draft = join(directory, `${MARKER_NAME}.${unguessableName()}`)
  try {
    writeFileSync(draft, JSON.stringify(marker), { mode: 0o600, flag: 'wx' })
    renameSync(draft, join(directory, MARKER_NAME))
  } finally {
    rmSync(draft, { force: true })
  }
}

/**
 * The result tells whether the marker is still the one that stands there now: whoever takes the
 * workspace over, here or elsewhere, writes another.
 */
export function watchOwner(directory: string): () => boolean {
  const stamp = stampOf(directory)
  return () => stampOf(directory) === stamp
}

function stampOf(directory: string): string {
  const stats = lstatSync(join(directory, MARKER_NAME), { bigint: true, throwIfNoEntry: false })
  return `${stats?.ino}:${stats?.ctimeNs}`
}

/** The marker of a directory; undefined when it has none that this user wrote. */
export function readOwner(directory: string): OwnerMarker | undefined {
  let fd: number | undefined
  try {
    fd = openSync(join(directory, MARKER_NAME), constants.O_RDONLY | OWNER_FLAGS)
    const stats = fstatSync(fd)
    if (!stats.isFile() || stats.uid !== process.getuid?.()) return undefined
    if (stats.size > MAX_MARKER_BYTES) return undefined
    const result = ownerSchema.safeParse(JSON.parse(readFileSync(fd, 'utf8')))
    return result.success ? result.data : undefined
  } catch {
    return undefined
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
}

/** Whether the marker of a directory still names this owner: no other process attached to it since. */
export function isOwnedBy(directory: string, marker: OwnerMarker): boolean {
  const current = readOwner(directory)?.process
  const { process: own } = marker
  if (current === undefined || own === undefined) return false
  return current.pid === own.pid && current.startTime === own.startTime
}

const OWNER_FLAGS = constants.O_NOFOLLOW | constants.O_NONBLOCK

/**
 * Whether the owner still runs, as far as it can be seen from here. A process id alone says
 * nothing, as ids are used again: its start time and the start of the host must agree too. When in
 * doubt it runs.
 */
export function isOwnerAlive(marker: OwnerMarker): boolean {
  if (marker.process === undefined || isOwnerElsewhere(marker)) return false
  const { pid, startTime, bootId: bootOfOwner } = marker.process
  if (bootOfOwner !== bootId()) return false
  const entry = readProcess(pid)
  if (entry !== undefined) return entry.startTime === startTime && !isEnded(entry)
  return bootOfOwner === 'unknown' && answersSignal(pid)
}

/** Whether it cannot be checked here if the owner runs: it is of another container or host. */
export function isOwnerElsewhere({ process: owner }: OwnerMarker): boolean {
  return owner?.place !== undefined && owner.place !== processPlace()
}

/** For hosts without `/proc`. */
function answersSignal(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
