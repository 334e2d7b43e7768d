import { type Agent, SessionError, WorkspaceFailedError } from '@helix-agents/core'
import {
  compareEntries,
  type FileSystem,
  restoreSnapshot,
  type SnapshotLoss,
  type SnapshotManifest,
  takeSnapshot,
  type WorkspaceRef,
} from '@helix-agents/core/provider'
import {
  assertProvidersSupport,
  type SessionState,
  type WorkspaceDeclaration,
} from '@helix-agents/core/runtime'
import { holdSession, type HeldSession } from '../lease/hold-session.ts'
import type { RunServices } from '../ports.ts'
import { declarationOfRef } from '../session/end-refs.ts'
import { loadOwnSession } from '../session/load-own-session.ts'
import { FileBlocks } from './file-blocks.ts'
import { withBackend } from './files-at.ts'
import { releaseBackend, resolveOptions } from './provider-history.ts'
import { tryCollect } from './release-workspaces.ts'

/** Where a workspace moves to. */
export interface MoveOptions {
  /** A registered provider and its own options, as an agent declares them. */
  readonly to: WorkspaceDeclaration['provider']
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

interface Move {
  readonly services: RunServices
  readonly agent: Agent
  readonly sessionId: string
  /** As the agent declares it. */
  readonly declared: WorkspaceDeclaration
  readonly to: WorkspaceDeclaration['provider']
}

/** Moves a workspace of a session that does not run to another provider. */
export async function moveWorkspace(
  services: RunServices,
  agent: Agent,
  { sessionId, name, to }: MoveOptions & { readonly sessionId: string; readonly name: string },
): Promise<MoveReport> {
  const declared = Object.hasOwn(agent.workspaces, name) ? agent.workspaces[name] : undefined
  if (declared === undefined) {
    throw new WorkspaceFailedError(
      'config-invalid',
      `agent ${agent.name} has no workspace "${name}"`,
    )
  }
  assertProvidersSupport({ [name]: { ...declared, provider: to } }, services.providers)
  const { active } = services
  await loadOwnSession(services, agent, sessionId)
  await active.untilEnded(sessionId)
  active.reserve(sessionId)
  try {
    const move = { services, agent, sessionId, declared, to }
    const report = await holdSession(services, sessionId, { work: (held) => moveHeld(move, held) })
    await tryCollect(services, agent, { sessionId })
    return report
  } finally {
    active.release(sessionId)
  }
}

/**
 * All files are there and compared before the ref is switched. A process that dies before leaves a new
 * backend that the next collection finds; after it, the old one is recorded as released.
 */
async function moveHeld(move: Move, { session, lease }: HeldSession): Promise<MoveReport> {
  const { services, sessionId, declared } = move
  const { name } = declared
  if (session.status === 'waiting') {
    throw new SessionError('waiting', sessionId, 'a call waits for a person', {
      hint: 'Answer it first: what the call was shown about may move with the files.',
    })
  }
  const source = Object.hasOwn(session.workspaceRefs, name)
    ? session.workspaceRefs[name]
    : undefined
  if (source === undefined) {
    throw new WorkspaceFailedError('config-invalid', `workspace "${name}" was not opened yet`)
  }
  const { stateStore, clock } = services
  const intent = await stateStore.recordReleased(sessionId, { branchId: sessionId }, clock.now())
  const place = { session, declaration: declarationOfRef(declared, source), ref: source }
  const moved = await withBackend(services, place, (files) => copyTo(move, session, files))
  await lease.confirm()
  const { ref, report } = moved
  await stateStore.saveWorkspaceRef({ ...lease.write(), workspace: name, ref, releasesOld: true })
  await stateStore.forgetReleased(sessionId, [intent])
  return report
}

interface Moved {
  readonly ref: WorkspaceRef
  readonly report: MoveReport
}

async function copyTo(move: Move, session: SessionState, files: FileSystem): Promise<Moved> {
  const { services, declared, to } = move
  const blocks = new FileBlocks(files)
  const source = await takeSnapshot(files, blocks, snapshotOptions(move, session))
  const target = await openTarget(move, session)
  const owner = { session, declaration: { ...declared, provider: to, isMoved: true } }
  try {
    const { fs } = target.ws
    if (fs === undefined) throw missingFiles(declared.name, to.kind)
    const scope = session.sessionId
    const restored = await restoreSnapshot(source.manifest, blocks, fs, { scope })
    const losses = [...source.losses, ...restored.losses]
    await compare(move, session, { expected: source.manifest, files: fs, losses: restored.losses })
    const { bytes, digest } = source.manifest.header
    const report = { workspaceId: target.ws.id, files: restored.files, bytes, digest, losses }
    const moved = { provider: to, notice: noticeOf(declared.name, losses) }
    await target.ws.detach?.()
    return { ref: { ...target.ref, moved }, report }
  } catch (error) {
    await releaseBackend(services, target.ref, owner)
    throw error
  }
}

function snapshotOptions({ declared, services }: Move, session: SessionState) {
  return {
    scope: session.sessionId,
    session,
    workspace: declared.name,
    workspaceId: declared.name,
    providerId: declared.provider.kind,
    clock: services.clock,
  }
}

/** Under a name of its own: a provider may keep what an earlier stay of the workspace has left. */
async function openTarget({ services, declared, to }: Move, session: SessionState) {
  const provider = services.providers.get(to.kind)
  if (provider === undefined) throw missingFiles(declared.name, to.kind)
  const config = provider.parseConfig?.(to) ?? to
  const { capabilities, signal, logger, clock } = resolveOptions(services, {
    session,
    declaration: { ...declared, provider: to },
  })
  const workspace = `${declared.name}-${crypto.randomUUID().slice(0, 8)}`
  return provider.open(config, session, { workspace, capabilities, signal, logger, clock })
}

/** Reads all of the target again. @throws {WorkspaceFailedError} `provider-failed` */
async function compare(
  move: Move,
  session: SessionState,
  copy: {
    readonly expected: SnapshotManifest
    readonly files: FileSystem
    readonly losses: readonly SnapshotLoss[]
  },
): Promise<void> {
  const { files, expected, losses } = copy
  const found = await takeSnapshot(files, new FileBlocks(files), snapshotOptions(move, session))
  const lost = new Set(losses.map(({ path }) => path))
  const isModes = files.attributes?.writeMode === undefined
  const differences = await compareEntries(expected.entries, found.manifest.entries)
  const wrong = differences.filter(({ path, change, from }) => {
    // Source without modes: the new place has its own.
    const hasNoMode = from !== undefined && from.type !== 'symlink' && from.mode === undefined
    return !lost.has(path) && !(change === 'mode' && (isModes || hasNoMode))
  })
  const [first] = wrong
  if (first === undefined) return
  throw new WorkspaceFailedError(
    'provider-failed',
    `workspace "${move.declared.name}" was not copied as it is: ${first.path} and ${wrong.length - 1} more differ`,
  )
}

function missingFiles(name: string, kind: string): WorkspaceFailedError {
  const detail = `workspace "${name}" cannot move to ${kind}, which has no files`
  return new WorkspaceFailedError('capability-missing', detail)
}

/** Paths that the model is told of. */
const MAX_NAMED = 5

function noticeOf(name: string, losses: readonly SnapshotLoss[]): string {
  const text = `Workspace "${name}" was moved to another place: processes of earlier messages are gone.`
  if (losses.length === 0) return `${text} All files are there.`
  const named = losses
    .slice(0, MAX_NAMED)
    .map(({ path, kind }) => `${kind} of ${path.slice(0, 200)}`)
  const more = losses.length > MAX_NAMED ? ` and ${losses.length - MAX_NAMED} more` : ''
  return `${text} Not kept: ${named.join(', ')}${more}.`
}
