import { type Agent, AgentAlreadyRunningError, SessionError } from '@helix-agents/core'
import {
  compareEntries,
  decodeText,
  type FileSystem,
  isBinary,
  type SnapshotDifference,
  type SnapshotEntry,
  takeSnapshot,
} from '@helix-agents/core/provider'
import {
  createWorkTurn,
  fileDiff,
  type FileDiff,
  type FileSides,
  redactText,
  type SessionState,
  type WorkspaceDeclaration,
} from '@helix-agents/core/runtime'
import { holdSession } from '../lease/hold-session.ts'
import { observeHistory } from '../observe/history.ts'
import type { RunServices } from '../ports.ts'
import { loadOwnSession } from '../session/load-own-session.ts'
import { FileBlocks } from './file-blocks.ts'
import { withFilesAt } from './files-at.ts'

/** What is compared. */
export interface DiffOptions {
  /** Id of a checkpoint, or `now`. */
  readonly from: string
  /** Id of a checkpoint, or `now`. Default: `now`. */
  readonly to?: string
  /** Default: every workspace with a history. */
  readonly workspace?: string
  /** Changes that are listed of one workspace. Default: 200. */
  readonly maxChanges?: number
  /** Characters of all diffs of one workspace. Default: 200,000. */
  readonly maxDiffCharacters?: number
}

/** One path that differs. */
export interface FileChange {
  readonly path: string
  /** `changed` covers content, type and the target of a link. */
  readonly change: 'added' | 'removed' | 'changed' | 'mode'
  /** Absent: it was added. */
  readonly from?: FileSide
  /** Absent: it was removed. */
  readonly to?: FileSide
  /** Unified diff of a text file, without secrets. Absent for what is no text, too large or over a limit. */
  readonly diff?: string
  /** Why there is no diff, or not all of it. */
  readonly omitted?: 'binary' | 'too-large' | 'limit' | 'cut'
}

/** What is at a path on one side. */
export interface FileSide {
  readonly type: SnapshotEntry['type']
  /** Bytes; files only. */
  readonly size?: number
  /** Permission bits; absent where the provider has none. */
  readonly mode?: number
  /** Links only. */
  readonly target?: string
}

/** What differs in one workspace. */
export interface WorkspaceDiff {
  readonly workspace: string
  /** Sorted by path. */
  readonly changes: readonly FileChange[]
  /** Of all changes, also those that are not listed. */
  readonly total: number
}

const MAX_CHANGES = 200
const MAX_DIFF_CHARACTERS = 200_000
/** Larger files have no diff. */
const MAX_FILE_BYTES = 1024 * 1024

interface Diffing {
  readonly services: RunServices
  readonly agent: Agent
  readonly sessionId: string
  readonly options: DiffOptions
}

/** Compares the files of two points of a session. */
export async function diffSession(
  services: RunServices,
  agent: Agent,
  { sessionId, ...options }: DiffOptions & { readonly sessionId: string },
): Promise<readonly WorkspaceDiff[]> {
  const session = await loadOwnSession(services, agent, sessionId)
  const diffing = { services, agent, sessionId, options }
  if (services.active.get(sessionId) !== undefined) return diffAll(diffing, session)
  try {
    // What the sides are made of must not be collected meanwhile.
    return await holdSession(services, sessionId, {
      work: (held) => diffAll(diffing, held.session),
    })
  } catch (error) {
    const isOther = AgentAlreadyRunningError.isInstance(error)
    const { from, to = 'now' } = options
    if (!isOther || from === 'now' || to === 'now') throw error
    return diffAll(diffing, session)
  }
}

async function diffAll(diffing: Diffing, session: SessionState): Promise<readonly WorkspaceDiff[]> {
  const { agent, options } = diffing
  const withHistory = Object.values(agent.workspaces).filter((one) => one.history !== undefined)
  const wanted = withHistory.filter(({ name }) => (options.workspace ?? name) === name)
  if (wanted.length === 0) {
    const { workspace } = options
    const which = workspace === undefined ? '' : ` named "${workspace}"`
    const detail = `there is nothing to compare: no workspace${which} has a history`
    throw new SessionError('files-missing', session.sessionId, detail)
  }
  const diffs: WorkspaceDiff[] = []
  for (const declaration of wanted) {
    const { name: workspace, provider } = declaration
    const subject = { sessionId: session.sessionId, workspace, providerId: provider.kind }
    const compare = () => diffOne(diffing, session, declaration)
    diffs.push(await observeHistory(diffing.services, 'diff', subject, compare))
  }
  return diffs
}

function diffOne(
  { services, options }: Diffing,
  session: SessionState,
  declaration: WorkspaceDeclaration,
): Promise<WorkspaceDiff> {
  const { from, to = 'now' } = options
  const place = { services, session, declaration }
  return withFilesAt(place, from, (before) =>
    withFilesAt(place, to, async (after) => {
      const sides = [await entriesOf(before, place), await entriesOf(after, place)] as const
      const differences = await compareEntries(...sides)
      const listed = differences.slice(0, options.maxChanges ?? MAX_CHANGES)
      const changes = await describeAll(listed, { before, after }, options)
      return { workspace: declaration.name, changes, total: differences.length }
    }),
  )
}

async function entriesOf(
  files: FileSystem | undefined,
  place: { readonly session: SessionState; readonly declaration: WorkspaceDeclaration },
): Promise<readonly SnapshotEntry[]> {
  if (files === undefined) return []
  const { session, declaration } = place
  const taken = await takeSnapshot(files, new FileBlocks(files), {
    scope: session.sessionId,
    session,
    workspace: declaration.name,
    workspaceId: declaration.name,
    providerId: declaration.provider.kind,
  })
  return taken.manifest.entries
}

interface BothSides {
  readonly before: FileSystem | undefined
  readonly after: FileSystem | undefined
}

async function describeAll(
  differences: readonly SnapshotDifference[],
  sides: BothSides,
  { maxDiffCharacters = MAX_DIFF_CHARACTERS }: DiffOptions,
): Promise<readonly FileChange[]> {
  const changes: FileChange[] = []
  let left = maxDiffCharacters
  for (const difference of differences) {
    const { path, from, to, change } = difference
    const shown = await textDiff(difference, sides, left)
    left -= shown.diff?.length ?? 0
    changes.push({
      path,
      change: change === 'content' ? 'changed' : change,
      ...(from !== undefined && { from: toSide(from) }),
      ...(to !== undefined && { to: toSide(to) }),
      ...shown,
    })
  }
  return changes
}

function toSide(entry: SnapshotEntry): FileSide {
  if (entry.type === 'symlink') return { type: entry.type, target: entry.target }
  const { type, mode } = entry
  return {
    type,
    ...(mode !== undefined && { mode }),
    ...(entry.type === 'file' && { size: entry.size }),
  }
}

async function textDiff(
  difference: SnapshotDifference,
  { before, after }: BothSides,
  left: number,
): Promise<Pick<FileChange, 'diff' | 'omitted'>> {
  const { path, from, to, change } = difference
  const files = [from, to].filter((entry) => entry?.type === 'file')
  if (change === 'mode' || files.length === 0) return {}
  if (files.some(({ size }) => size > MAX_FILE_BYTES)) return { omitted: 'too-large' }
  if (left <= 0) return { omitted: 'limit' }
  const old = await contentOf(before, from)
  const now = await contentOf(after, to)
  if (old === 'binary' || now === 'binary') return { omitted: 'binary' }
  return shortened(await fileDiff(sidesOf(path, old, now), createWorkTurn()), left)
}

interface TextContent {
  readonly text: string
}

function sidesOf(path: string, old?: TextContent, now?: TextContent): FileSides {
  return {
    ...(old !== undefined && { from: path }),
    ...(now !== undefined && { to: path }),
    before: old?.text ?? '',
    after: now?.text ?? '',
  }
}

async function contentOf(
  files: FileSystem | undefined,
  entry: SnapshotEntry | undefined,
): Promise<TextContent | 'binary' | undefined> {
  if (files === undefined || entry?.type !== 'file') return undefined
  const bytes = await files.readFile(entry.path)
  return isBinary(bytes) ? 'binary' : { text: decodeText(bytes) }
}

function shortened(made: FileDiff, left: number): Pick<FileChange, 'diff' | 'omitted'> {
  const redacted = redactText(made.diff)
  const diff = redacted.slice(0, left)
  const isCut = made.isCut || made.diff.length > MAX_REDACTED || diff.length < redacted.length
  return { diff, ...(isCut && { omitted: 'cut' }) }
}

/** `redactText` leaves out what is behind. */
const MAX_REDACTED = 32_768
