import { FileSystemError } from '../../errors/file-system-error.ts'
import type { ModuleToolContext } from '../define-module.ts'
import type { FileSystem } from '../fs/contract.ts'
import type { FileVersions, KnownVersion } from '../fs/versions/file-versions.ts'

/** Files that are inspected after a command: those the agent has seen last. */
const MAX_STATS = 50
/** Reported changes remembered for one workspace; then they are reported again. */
const MAX_REPORTED = 1000
/** Stands for the version of a file that is not there. */
const REMOVED = ''

/** A file that an agent has read and that is not the same any more. */
export interface StaleRead {
  readonly path: string
  readonly isRemoved: boolean
}

/** What was reported already: agent and path, with the version that was found. */
const reportedChanges = new WeakMap<FileVersions, Map<string, string>>()

/** Compares what this agent has seen with what is there now. Reports each change once. */
export async function findStaleReads(context: ModuleToolContext): Promise<readonly StaleRead[]> {
  const { actor, ledger, files } = context
  if (files === undefined) return []
  const known = ledger.recent(actor, MAX_STATS)
  const versions = await Promise.all(known.map(([path, entry]) => versionOf(files, path, entry)))
  const reported = reportedChanges.get(ledger) ?? new Map<string, string>()
  reportedChanges.set(ledger, reported)
  return known.flatMap(([path, entry], index) => {
    const version = versions[index] ?? entry.version
    const key = `${actor}\0${path}`
    if (version === entry.version || reported.get(key) === version) return []
    if (reported.size >= MAX_REPORTED) reported.clear()
    reported.set(key, version)
    return [{ path, isRemoved: version === REMOVED }]
  })
}

/** The result of the command must not be lost because a file cannot be inspected. */
async function versionOf(fs: FileSystem, path: string, known: KnownVersion): Promise<string> {
  try {
    return (await fs.stat(path)).version
  } catch (error) {
    const isGone = FileSystemError.isInstance(error) && error.code === 'not-found'
    return isGone ? REMOVED : known.version
  }
}
