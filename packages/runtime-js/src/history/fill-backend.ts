import { WorkspaceFailedError } from '@helix-agents/core'
import {
  assertFileSizes,
  compareEntries,
  type FileSystem,
  type OpenedWorkspace,
  restoreSnapshot,
  type SessionRef,
  type SnapshotLoss,
  takeSnapshot,
  type WorkspaceRef,
} from '@helix-agents/core/provider'
import type { WorkspaceDeclaration } from '@helix-agents/core/runtime'
import type { RunServices } from '../ports.ts'
import { FileBlocks } from './file-blocks.ts'
import { type Making, reportWaiting } from './making.ts'
import { releaseBackend, resolveOptions } from './provider-history.ts'
import type { CheckpointFiles } from './read-files.ts'

/** Whose the new backend is, and where: `declaration.provider` is its provider. */
interface BackendPlace {
  readonly services: RunServices
  /** What is about to be made is recorded. */
  readonly making: Making
  readonly session: SessionRef
  readonly declaration: WorkspaceDeclaration
}

/** What a new backend is filled with. */
interface BackendContent {
  readonly source: CheckpointFiles
  /** What the source could not read. */
  readonly losses: readonly SnapshotLoss[]
  /** Says to the model what has happened to the workspace. */
  readonly event: string
}

/** What a move has done. */
export interface MoveReport {
  /** Id of the new backend. */
  readonly workspaceId: string
  readonly files: number
  /** Bytes of all files. */
  readonly bytes: number
  /** SHA-256 over the files of the source; see `digestEntries`. */
  readonly digest: string
  /** What the new place cannot hold, or the old one could not read. Empty: all is there. */
  readonly losses: readonly SnapshotLoss[]
}

/** A new backend that has all files. */
export interface Filled {
  readonly ref: WorkspaceRef
  readonly report: MoveReport
}

/**
 * Makes a backend, fills it from a snapshot, reads all of it again and compares, and opens it once as its
 * session will. One that cannot be used is released.
 * @throws {WorkspaceFailedError} `provider-failed`: the copy is not the same.
 * @throws {FileSystemError} `too-large` before anything is made; `storage-full`.
 */
export async function fillBackend(place: BackendPlace, content: BackendContent): Promise<Filled> {
  const { services, session, declaration } = place
  const { manifest, store, scope } = content.source
  await assertFileSizes(manifest.entries, declaration.capabilities.fs)
  const { target, workspace } = await openTarget(place)
  try {
    const { fs } = target.ws
    if (fs === undefined) throw missingFiles(declaration)
    const { files, losses: unheld } = await restoreSnapshot(manifest, store, fs, { scope })
    const losses = [...content.losses, ...unheld]
    await compare(place, { expected: content.source, files: fs, losses: unheld })
    const { bytes, digest } = manifest.header
    const notice = noticeOf(`Workspace "${declaration.name}" ${content.event}`, losses)
    const ref = { ...target.ref, moved: { provider: declaration.provider, notice } }
    await target.ws.detach?.()
    await assertOpens(place, ref)
    return { ref, report: { workspaceId: target.ws.id, files, bytes, digest, losses } }
  } catch (error) {
    const owner = { session, declaration: { ...declaration, isMoved: true }, workspace }
    if (!(await releaseBackend(services, target.ref, owner))) place.making.markLeft()
    throw error
  }
}

/** How the files of a backend are read. */
export function snapshotOptions(
  { clock }: RunServices,
  session: SessionRef,
  { name, provider }: WorkspaceDeclaration,
) {
  const { sessionId: scope } = session
  const providerId = provider.kind
  return { scope, session, workspace: name, workspaceId: name, providerId, clock }
}

/** Under a name of its own: a provider may keep what an earlier stay of the workspace has left. */
async function openTarget(
  place: BackendPlace,
): Promise<{ readonly target: OpenedWorkspace; readonly workspace: string }> {
  const { services, session, declaration, making } = place
  const { name, provider: to } = declaration
  const provider = services.providers.get(to.kind)
  if (provider === undefined) throw missingFiles(declaration)
  const config = provider.parseConfig?.(to) ?? to
  const { capabilities, signal, logger, clock } = resolveOptions(services, { session, declaration })
  const workspace = `${name}-${crypto.randomUUID().slice(0, 8)}`
  const made = { workspace, resolvedAs: name, onMaking: making.of(name) }
  const options = { ...made, capabilities, signal, logger, clock }
  try {
    return { target: await provider.open(config, session, options), workspace }
  } catch (error) {
    making.markLeft()
    throw error
  }
}

/** A provider may tie a backend to the name under which it was made. */
async function assertOpens(
  { services, session, declaration }: BackendPlace,
  ref: WorkspaceRef,
): Promise<void> {
  const provider = services.providers.get(ref.providerId)
  if (provider === undefined) throw missingFiles(declaration)
  const opened = await provider.resolve(ref, resolveOptions(services, { session, declaration }))
  await opened.ws.detach?.()
  reportWaiting(services, opened, { workspace: declaration.name, session })
}

/** Reads all of the target again. @throws {WorkspaceFailedError} `provider-failed` */
async function compare(
  { services, session, declaration }: BackendPlace,
  copy: {
    readonly expected: CheckpointFiles
    readonly files: FileSystem
    readonly losses: readonly SnapshotLoss[]
  },
): Promise<void> {
  const { files, expected, losses } = copy
  const options = snapshotOptions(services, session, declaration)
  const found = await takeSnapshot(files, new FileBlocks(files), options)
  const lost = new Set(losses.map(({ path }) => path))
  const isModes = files.attributes?.writeModes === undefined
  const differences = await compareEntries(expected.manifest.entries, found.manifest.entries)
  const wrong = differences.filter(({ path, change, from }) => {
    // Source without modes: the new place has its own.
    const hasNoMode = from !== undefined && from.type !== 'symlink' && from.mode === undefined
    return !lost.has(path) && !(change === 'mode' && (isModes || hasNoMode))
  })
  const [first] = wrong
  if (first === undefined) return
  throw new WorkspaceFailedError(
    'provider-failed',
    `workspace "${declaration.name}" was not copied as it is: ${first.path} and ${wrong.length - 1} more differ`,
  )
}

function missingFiles({ name, provider }: WorkspaceDeclaration): WorkspaceFailedError {
  const detail = `workspace "${name}" cannot move to ${provider.kind}, which has no files`
  return new WorkspaceFailedError('capability-missing', detail)
}

/** Paths that the model is told of. */
const MAX_NAMED = 5

function noticeOf(event: string, losses: readonly SnapshotLoss[]): string {
  const text = `${event}: processes of earlier messages are gone.`
  if (losses.length === 0) return `${text} All files are there.`
  const named = losses
    .slice(0, MAX_NAMED)
    .map(({ path, kind }) => `${kind} of ${path.slice(0, 200)}`)
  const more = losses.length > MAX_NAMED ? ` and ${losses.length - MAX_NAMED} more` : ''
  return `${text} Not kept: ${named.join(', ')}${more}.`
}
