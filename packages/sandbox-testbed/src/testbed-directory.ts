import { accessSync, chmodSync, constants, lstatSync, mkdtempSync, readdirSync } from 'node:fs'
import { realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { isRoot } from './root/bubblewrap.ts'
import { isReachableByAll } from './root/host-programs.ts'
import { removeTree } from './root/private-root.ts'
import { SandboxTestbedError } from './testbed-error.ts'

const NAME = /^helix-testbed-(?<pid>\d+)-/
/** The longest path of a socket that Linux takes. */
const SOCKET_PATH_BYTES = 107
/** The deepest socket of a test bed, that of a container. */
const DEEPEST_SOCKET = 'disks/0123456789ab.sock'
/** What the system says when nothing can be written. */
const FULL = new Set(['EDQUOT', 'ENOSPC', 'EROFS'])
/** What `mkdtemp` adds. */
const RANDOM_CHARACTERS = 6

/**
 * Makes a folder for one test bed; its name says whose it is.
 *
 * @param purpose part of the name.
 * @throws {SandboxTestbedError} directory-unusable
 */
export function makeTestbedDirectory(purpose = ''): string {
  const parent = resolve(tmpdir())
  const problem = problemOf(parent)
  if (problem !== undefined) throw unusable(parent, problem)
  try {
    const directory = mkdtempSync(join(parent, `helix-testbed-${process.pid}-${purpose}`))
    // Containers run as other users, who must reach their own part.
    chmodSync(directory, 0o711)
    return directory
  } catch (error) {
    throw unusable(parent, String(error), error)
  }
}

/**
 * Containers of a root user run as other users, who must get to what is theirs.
 *
 * @throws {SandboxTestbedError} directory-unusable
 */
export function refuseClosedDirectory(directory: string): void {
  if (!isRoot() || isReachableByAll(realpathSync(directory))) return
  throw unusable(dirname(directory), 'other users, as whom containers run, cannot reach it')
}

/**
 * The error for a folder that has no room for what a test bed puts there; any other error as it is.
 */
export function directoryProblem(directory: string, error: unknown): unknown {
  const isFull = error instanceof Error && 'code' in error && FULL.has(String(error.code))
  return isFull ? unusable(dirname(directory), String(error), error) : error
}

/** Where the engine of a test bed listens. */
export function socketPathIn(directory: string): string {
  return join(directory, 'engine.sock')
}

/**
 * Removes the folders of test beds whose process is gone. Never fails. Anybody can make such a name
 * in a folder that all may write to: only folders of this user are removed, and no links.
 *
 * @param parent where test beds are made.
 */
export async function reapDeadTestbeds(parent = tmpdir()): Promise<void> {
  const dead = namesIn(parent).filter((name) => {
    const pid = NAME.exec(name)?.groups?.pid
    return pid !== undefined && !isAlive(Number(pid)) && isOwnDirectory(join(parent, name))
  })
  await Promise.allSettled(dead.map((name) => removeTree(join(parent, name))))
}

function isOwnDirectory(path: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  return stat?.isDirectory() === true && stat.uid === process.getuid?.()
}

function problemOf(parent: string): string | undefined {
  try {
    accessSync(parent, constants.W_OK | constants.X_OK)
  } catch (error) {
    return String(error)
  }
  const name = `helix-testbed-${process.pid}-${'X'.repeat(RANDOM_CHARACTERS)}`
  const bytes = Buffer.byteLength(join(parent, name, DEEPEST_SOCKET))
  if (bytes > SOCKET_PATH_BYTES) {
    return `a socket in it would have a path of ${bytes} bytes, the system takes ${SOCKET_PATH_BYTES}`
  }
  return undefined
}

function unusable(parent: string, problem: string, cause?: unknown): SandboxTestbedError {
  const text = `the folder ${parent} cannot be used: ${problem}. Set TMPDIR to another one`
  return new SandboxTestbedError('directory-unusable', text, { cause })
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch {
    // What makes a folder in it reports why.
    return []
  }
}

/** Whether a process of this machine runs. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
