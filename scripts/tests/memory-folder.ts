import { mkdirSync, readdirSync, rmSync, statfsSync } from 'node:fs'
import { join } from 'node:path'

/** Where Linux has a file system in memory. */
const PARENT = '/dev/shm'
const PREFIX = 'helix-tests-'
/** From `linux/magic.h`. */
const TMPFS_MAGIC = 0x01_02_19_94
const MIN_FREE_BYTES = 4 * 1024 ** 3

/**
 * A folder in memory for this process, which is gone when it ends.
 *
 * @returns nothing where there is no memory for it, as in a container with the default of Docker.
 */
export function createMemoryFolder(parent = PARENT): string | undefined {
  const folder = join(parent, `${PREFIX}${process.pid}`)
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
    if (!name.startsWith(PREFIX) || isAlive(Number(name.slice(PREFIX.length)))) continue
    rmSync(join(parent, name), { recursive: true, force: true })
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
