import { mkdirSync, readdirSync, rmSync, statfsSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Where Linux has a file system in memory. */
const PARENT = '/dev/shm'
/** From `linux/magic.h`. */
const TMPFS_MAGIC = 0x01_02_19_94
const MIN_FREE_BYTES = 4 * 1024 ** 3
/** Longer than a run: processes of another container may use the folder, and their numbers say nothing here. */
const MIN_LEFTOVER_MS = 3_600_000

/**
 * A folder in memory for this process, which is gone when it ends.
 *
 * @returns nothing where there is no memory for it, as in a container with the default of Docker.
 */
export function createMemoryFolder(parent = PARENT): string | undefined {
  const folder = join(parent, `helix-tests-${process.pid}`)
  try {
    if (!hasRoom(parent)) return undefined
    removeLeftovers(parent)
    mkdirSync(folder, { mode: 0o700 })
  } catch {
    // No such place, or not ours: a disk does as well.
    return undefined
  }
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  return folder
}

function hasRoom(parent: string): boolean {
  const { type, bavail, bsize } = statfsSync(parent)
  return type === TMPFS_MAGIC && bavail * bsize >= MIN_FREE_BYTES
}

/** Of runs that were killed. */
function removeLeftovers(parent: string): void {
  for (const name of readdirSync(parent)) {
    const pid = /^helix-tests-([1-9]\d*)$/.exec(name)?.[1]
    if (pid === undefined || isAlive(Number(pid))) continue
    const folder = join(parent, name)
    if (Date.now() - statSync(folder).mtimeMs < MIN_LEFTOVER_MS) continue
    rmSync(folder, { recursive: true, force: true })
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
