import { FileSystemError } from '../../../errors/file-system-error.ts'
import type { ModuleToolContext } from '../../define-module.ts'
import type { FileSystemConfig } from '../config.ts'
import type { FileStat, FileSystem, WriteOptions } from '../contract.ts'
import type { KnownAfterWrite } from '../versions/file-versions.ts'
import type { LineRange } from '../text/line-ranges.ts'

/** Rounds before a file that others keep changing is given up. */
const MAX_ATTEMPTS = 8

/** What a tool call changes files with. */
export interface FileChange {
  readonly module: FileSystem
  readonly config: FileSystemConfig
  readonly context: ModuleToolContext
}

/** The file, or undefined when there is nothing at the path. The path is normalised. */
export async function statIfPresent(fs: FileSystem, path: string): Promise<FileStat | undefined> {
  try {
    return await fs.stat(path)
  } catch (error) {
    if (FileSystemError.isInstance(error) && error.code === 'not-found') return undefined
    throw error
  }
}

/**
 * Looks at a file and rejects when it is not what this agent last saw.
 * @throws {FileSystemError} `stale-write`; `is-directory`.
 */
export async function statUnlessStale(
  change: FileChange,
  path: string,
): Promise<FileStat | undefined> {
  const { module, context } = change
  let before: string | undefined
  for (;;) {
    const stat = await statIfPresent(module, path)
    if (stat === undefined) return undefined
    if (stat.type === 'directory') throw new FileSystemError('is-directory', path)
    const stale = context.ledger.check(context.actor, path, stat.version)
    if (stale === undefined) return stat
    // Another call of this agent may have written in between, after this look at the file.
    if (before === stat.version) throw staleWrite(stat, stale.writer)
    before = stat.version
  }
}

/** Rejects the change of a file, or of these lines of it, that this agent has not read. */
export function requireRead(change: FileChange, path: string, lines?: LineRange): void {
  const { config, context } = change
  if (!config.requireReadBeforeWrite || context.ledger.knows(context.actor, path, lines)) return
  const what = lines === undefined ? 'it' : `lines ${lines[0]}-${lines[1]}`
  throw new FileSystemError('stale-write', path, {
    detail: `${what} must be read before a change`,
    hint: 'Read the file with read_file first, then repeat the call.',
  })
}

/** What a rewrite makes of a file. */
export interface Rewrite {
  readonly data: string
  readonly known: KnownAfterWrite
}

/**
 * Writes what `make` returns for the current file. When another writer changes the file in between,
 * `make` gets another turn on the new content, so that no change is lost.
 *
 * @param make Undefined stat: nothing is there yet.
 * @throws {FileSystemError} `stale-write` when the file changed since this agent has read it.
 */
export function rewriteFile<Made extends Rewrite>(
  change: FileChange,
  path: string,
  make: (stat: FileStat | undefined) => Promise<Made>,
): Promise<Rewritten<Made>> {
  return change.context.ledger.inOrder(path, () => rewriteInOrder(change, path, make))
}

interface Rewritten<Made> {
  readonly made: Made
  readonly stat: FileStat
  readonly before: FileStat | undefined
}

async function rewriteInOrder<Made extends Rewrite>(
  change: FileChange,
  path: string,
  make: (stat: FileStat | undefined) => Promise<Made>,
): Promise<Rewritten<Made>> {
  const { module, context } = change
  let before = await statUnlessStale(change, path)
  for (let attempt = 1; ; attempt += 1) {
    const made = await make(before)
    const options: WriteOptions =
      before === undefined ? { ifAbsent: true } : { ifVersion: before.version }
    try {
      const stat = await module.writeFile(path, made.data, options)
      context.ledger.recordWrite(context.actor, path, stat.version, made.known)
      return { made, stat, before }
    } catch (error) {
      if (!isConflict(error) || attempt === MAX_ATTEMPTS) throw error
      before = await statIfPresent(module, path)
    }
  }
}

/** Names who changed a file, and what there is to see. */
export function staleWrite(stat: FileStat, writer: string | undefined): FileSystemError {
  const who = writer === undefined ? 'a command or another process' : `agent ${writer}`
  return new FileSystemError('stale-write', stat.path, {
    detail: `changed by ${who} at ${stat.mtime.toISOString()}, now ${stat.size} bytes`,
    hint: 'Read the file again with read_file, then repeat the change on what it holds now.',
  })
}

function isConflict(error: unknown): boolean {
  if (!FileSystemError.isInstance(error)) return false
  return error.code === 'stale-write' || error.code === 'already-exists'
}
