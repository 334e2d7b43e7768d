import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  statSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { systemClock, WorkspaceEvictedError, WorkspaceFailedError } from '@helix-agents/core'
import { errnoOf } from './file-system/map-error.ts'
import { removeHostPath } from './file-system/tree/remove-tree.ts'
import { unguessableName } from './file-system/path/unguessable-name.ts'
import { MARKER_NAME, type OwnerMarker, readOwner } from './owner.ts'
import { DIRECTORY_PATTERN } from './ref.ts'

const PREFIX = 'helix-ws-'
/** Random part of the name of a fork; that of others is shorter. */
const FORK_CHARACTERS = 20
const REMOVE_ATTEMPTS = 3
const REMOVE_PAUSE_MS = 20

/**
 * The directory of one workspace on the host. The agent's files are in `root`; what belongs to
 * the framework lies beside it, where no path of the workspace leads.
 */
export interface WorkspaceDirectory {
  /** Names it among all workspaces. */
  readonly name: string
  /** Whether it was made from a snapshot. */
  readonly isFork: boolean
  readonly path: string
  readonly root: string
  /** Unfinished files, pipes and outputs. */
  readonly scratch: string
  /** `TMPDIR` of commands. */
  readonly tmp: string
}

/**
 * Makes an empty one that only this user can enter. Its owner is written into it next, and only
 * then its parts are made, by `restoreDirectory`: what has a file has an owner.
 */
export function createDirectory(tmpdirRoot: string): WorkspaceDirectory {
  makeDirectories(resolve(tmpdirRoot))
  return layoutOf(mkdtempSync(join(realpathSync(tmpdirRoot), PREFIX)))
}

/** The same for files of a snapshot: whoever knows its name may attach to it, so none can guess it. */
export function createForkDirectory(tmpdirRoot: string): WorkspaceDirectory {
  const name = PREFIX + unguessableName().slice(0, FORK_CHARACTERS)
  const path = join(realpathSync(tmpdirRoot), name)
  mkdirSync(path, { mode: 0o700 })
  return layoutOf(path)
}

/** The workspaces of this user that have an owner marker. */
export function workspacesIn(
  tmpdirRoot: string,
): readonly { readonly directory: WorkspaceDirectory; readonly marker: OwnerMarker }[] {
  if (!existsSync(tmpdirRoot)) return []
  const root = realpathSync(tmpdirRoot)
  return readdirSync(root).flatMap((name) => {
    const path = join(root, name)
    const marker = DIRECTORY_PATTERN.test(name) && isOwnDirectory(path) && readOwner(path)
    return marker ? [{ directory: layoutOf(path), marker }] : []
  })
}

/**
 * Makes a directory and its parents, one by one: where none can be made, as under `/proc`, the
 * recursive call of Node never ends.
 */
function makeDirectories(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return
  const parent = dirname(path)
  if (parent !== path) makeDirectories(parent)
  try {
    mkdirSync(path)
  } catch (cause) {
    if (errnoOf(cause) === 'EEXIST') return
    throw new WorkspaceFailedError(
      'provider-failed',
      'the directory of all workspaces cannot be made',
      {
        cause,
        hint: 'An operator must set `tmpdirRoot` to a directory that can be made.',
      },
    )
  }
}

/**
 * An existing one.
 * @throws {WorkspaceEvictedError} `lost` when it is gone, or not a directory of this user.
 */
export function findDirectory(tmpdirRoot: string, name: string): WorkspaceDirectory {
  if (!DIRECTORY_PATTERN.test(name)) throw lost()
  const directory = layoutOf(join(canonical(tmpdirRoot), name))
  restoreDirectory(directory)
  return directory
}

/**
 * Makes missing parts again. A root that was replaced by a link or a file is set aside, so that
 * nothing is lost and nothing outside becomes the workspace.
 * @throws {WorkspaceEvictedError} `lost` when the directory itself is gone.
 * @throws {WorkspaceFailedError} `working-directory-missing` when a part cannot be made.
 */
export function restoreDirectory(directory: WorkspaceDirectory): void {
  if (!isOwnDirectory(directory.path)) throw lost()
  for (const part of partsOf(directory)) {
    if (isOwnDirectory(part)) continue
    try {
      setAside(directory, part)
      mkdirSync(part, { mode: 0o700 })
    } catch (cause) {
      throw new WorkspaceFailedError(
        'working-directory-missing',
        'the directory of the workspace is gone and cannot be made again',
        { cause, hint: 'An operator must make the directory of the workspace writable.' },
      )
    }
  }
}

/**
 * Removes everything, also directories that forbid it and trees of any depth. Links are removed,
 * never followed. The owner marker goes last: what an interrupted removal leaves has an owner
 * still, so that the reaper finishes it. Removing what is gone is fine.
 */
export async function removeDirectory(path: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await removeHostPath(path, MARKER_NAME)
    } catch (error) {
      if (attempt === REMOVE_ATTEMPTS) throw error
      // Another process may be writing into it.
      await systemClock.sleep(attempt * REMOVE_PAUSE_MS)
    }
  }
}

function layoutOf(path: string): WorkspaceDirectory {
  const name = path.slice(path.lastIndexOf('/') + 1)
  return {
    name,
    isFork: name.length === PREFIX.length + FORK_CHARACTERS,
    path,
    root: join(path, 'root'),
    scratch: join(path, 'scratch'),
    tmp: join(path, 'tmp'),
  }
}

function partsOf({ root, scratch, tmp }: WorkspaceDirectory): readonly string[] {
  return [scratch, root, tmp]
}

function setAside(directory: WorkspaceDirectory, part: string): void {
  if (lstatSync(part, { throwIfNoEntry: false }) === undefined) return
  renameSync(part, join(directory.path, `replaced-${unguessableName()}`))
}

/** A real directory of this user: not a link, and not of another user. */
export function isOwnDirectory(path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  return stats !== undefined && stats.isDirectory() && stats.uid === process.getuid?.()
}

function canonical(path: string): string {
  try {
    return realpathSync(path)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') throw lost()
    throw error
  }
}

function lost(): WorkspaceEvictedError {
  return new WorkspaceEvictedError('the directory of the workspace is gone', {
    code: 'lost',
    admitted: 'no',
  })
}
