import { linkSync, readFileSync, rmSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SnapshotStoreError, systemClock } from '@helix-agents/core'
import * as z from 'zod'
import { errnoOf } from '../../file-system/map-error.ts'
import { unguessableName } from '../../file-system/path/unguessable-name.ts'
import { isOwnerAlive, isOwnerElsewhere, ownMarker } from '../../owner.ts'

const MAX_WAIT_MS = 30_000
const PAUSE_MS = 5

const holderSchema = z.object({
  token: z.string().regex(/^[0-9a-f]{32}$/),
  process: z.object({
    pid: z.number(),
    startTime: z.number(),
    bootId: z.string(),
    place: z.string().optional(),
  }),
})
type Holder = z.output<typeof holderSchema>

/**
 * Lets one caller at a time, of all processes of the host, change a directory. A lock whose process
 * died is removed by whoever comes next: exactly one of them, since only one can make the file that
 * allows it, and then looks again.
 *
 * @throws {SnapshotStoreError} `unavailable` when another process holds it for 30 seconds.
 */
export async function withProcessLock<T>(directory: string, run: () => Promise<T>): Promise<T> {
  const before = turns.get(directory)
  const turn = (async (): Promise<T> => {
    if (before !== undefined) await Promise.allSettled([before])
    return locked(directory, run)
  })()
  turns.set(directory, turn)
  try {
    return await turn
  } finally {
    if (turns.get(directory) === turn) turns.delete(directory)
  }
}

/** Callers in this process wait in order. */
const turns = new Map<string, Promise<unknown>>()

async function locked<T>(directory: string, run: () => Promise<T>): Promise<T> {
  const path = join(directory, 'lock')
  const draft = writeDraft(directory)
  try {
    await acquire(path, draft)
  } finally {
    rmSync(draft, { force: true })
  }
  try {
    return await run()
  } finally {
    rmSync(path, { force: true })
  }
}

function writeDraft(directory: string): string {
  const token = unguessableName()
  const { process } = ownMarker({ env: {}, sinceMs: 0 })
  const draft = join(directory, `lock-draft-${token}`)
  writeFileSync(draft, JSON.stringify({ token, process }), { flag: 'wx', mode: 0o600 })
  return draft
}

async function acquire(path: string, draft: string): Promise<void> {
  const startedMs = performance.now()
  while (!tryLink(draft, path)) {
    if (breakDead(path, draft)) continue
    if (performance.now() - startedMs > MAX_WAIT_MS) {
      throw new SnapshotStoreError('unavailable', 'another process holds the store of snapshots')
    }
    await systemClock.sleep(PAUSE_MS)
  }
}

/** Whether the way may be free now. */
function breakDead(path: string, draft: string): boolean {
  const holder = readHolder(path)
  if (holder === undefined) return true
  if (isAlive(holder)) return false
  const permit = `${path}-${holder.token}`
  if (!tryLink(draft, permit)) return breakDead(permit, draft)
  try {
    // While this permit is held, none but its holder removes the lock with this token.
    if (readHolder(path)?.token === holder.token) unlinkSync(path)
    return true
  } finally {
    rmSync(permit, { force: true })
  }
}

function isAlive({ process }: Holder): boolean {
  const { place, ...known } = process
  const owner = { ...known, ...(place !== undefined && { place }) }
  const marker = { format: 1 as const, env: {}, sinceMs: 0, process: owner }
  return isOwnerElsewhere(marker) || isOwnerAlive(marker)
}

/**
 * Undefined when it is gone.
 * @throws {SnapshotStoreError} `corrupt`: nothing says whose a damaged one is.
 */
function readHolder(path: string): Holder | undefined {
  try {
    return holderSchema.parse(JSON.parse(readFileSync(path, 'utf8')))
  } catch (cause) {
    if (errnoOf(cause) === 'ENOENT') return undefined
    if (errnoOf(cause) !== undefined) throw cause
    throw new SnapshotStoreError('corrupt', 'the lock of the store of snapshots is damaged', {
      cause,
    })
  }
}

function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to)
    return true
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false
    throw error
  }
}
