import { type Agent, SessionError, WorkspaceFailedError } from '@helix-agents/core'
import type {
  ResolveOptions,
  SessionRef,
  SnapshotRef,
  WorkspaceProvider,
  WorkspaceRef,
} from '@helix-agents/core/provider'
import type { Checkpoint, WorkspaceDeclaration } from '@helix-agents/core/runtime'
import { observeHistory } from '../observe/history.ts'
import type { RunServices } from '../ports.ts'
import { declarationOfRef } from '../session/end-refs.ts'
import { type Making, reportWaiting } from './making.ts'
import { releaseBackend, resolveOptions } from './provider-history.ts'

/** The files of a checkpoint that are wanted: of one workspace, or that it was not there yet. */
export interface WantedFiles {
  readonly declaration: WorkspaceDeclaration
  /** Absent: the checkpoint is older than the workspace, which begins anew. */
  readonly snapshot?: SnapshotRef
}

/**
 * What is needed to bring the files of a checkpoint back, before anything is made.
 * @param wanted `true` for every workspace with a history.
 * @throws {SessionError} `files-missing`
 */
export function findFiles(
  agent: Agent,
  checkpoint: Checkpoint,
  wanted: true | readonly string[],
): readonly WantedFiles[] {
  const declared = Object.values(agent.workspaces).filter(({ history }) => history !== undefined)
  const known = new Map(declared.map((one) => [one.name, one]))
  const names = wanted === true ? [...known.keys()] : wanted
  return names.map((name) => {
    const declaration = known.get(name)
    if (declaration === undefined) throw missing(checkpoint, name, 'it declares no history')
    return findOne(checkpoint, declaration)
  })
}

/** @throws {SessionError} `files-missing` */
export function findOne(checkpoint: Checkpoint, declaration: WorkspaceDeclaration): WantedFiles {
  const { name } = declaration
  const { workspaceSnapshots = {}, workspaceRefs } = checkpoint
  const files = Object.hasOwn(workspaceSnapshots, name) ? workspaceSnapshots[name] : undefined
  if (files?.snapshot !== undefined) {
    return {
      declaration: placeOf(checkpoint, declaration, files.snapshot),
      snapshot: files.snapshot,
    }
  }
  if (files === undefined && !Object.hasOwn(workspaceRefs, name)) return { declaration }
  throw missing(checkpoint, name, REASONS[files?.missing ?? 'none'])
}

/** Files of a workspace that was moved are with the provider that it had then. */
function placeOf(
  { workspaceRefs }: Checkpoint,
  declaration: WorkspaceDeclaration,
  { providerId }: SnapshotRef,
): WorkspaceDeclaration {
  const { name, provider } = declaration
  const ref = Object.hasOwn(workspaceRefs, name) ? workspaceRefs[name] : undefined
  if (ref?.moved?.provider.kind === providerId) return declarationOfRef(declaration, ref)
  if (provider.kind === providerId) return declaration
  return { ...declaration, provider: { kind: providerId }, isMoved: true }
}

const REASONS = {
  failed: 'its snapshot could not be taken',
  evicted: 'a limit of its history has removed them',
  none: 'it had no history then',
} as const

function missing({ sessionId, id }: Checkpoint, workspace: string, why: string): SessionError {
  const detail = `checkpoint ${id} has no files of workspace "${workspace}": ${why}`
  return new SessionError('files-missing', sessionId, detail, {
    hint: 'Go back without files, or to another checkpoint.',
  })
}

/** New backends with the files of a checkpoint; `null` for a workspace that begins anew. */
export type RestoredRefs = Readonly<Record<string, WorkspaceRef | null>>

interface RestoreFiles {
  /** Whose the new backends are. */
  readonly session: SessionRef
  readonly files: readonly WantedFiles[]
  /** The files are those of another session. Default: false. */
  readonly allowCrossSession?: boolean
  /** Open workspaces of the session that took the snapshots, for providers without a history. */
  readonly current?: Readonly<Record<string, WorkspaceRef>>
  /** Absent where no stored session can be told. */
  readonly making?: Making
}

/**
 * Makes a backend with the files of each snapshot, and opens it once. When one cannot be made, none is:
 * the others are released.
 * @throws {WorkspaceFailedError} naming the workspace whose snapshot is missing or damaged.
 */
export async function restoreFiles(
  services: RunServices,
  { session, files, allowCrossSession = false, current = {}, making }: RestoreFiles,
): Promise<RestoredRefs> {
  const made = new Map<string, WorkspaceRef | null>()
  try {
    for (const { declaration, snapshot } of files) {
      const owner = { session, declaration }
      if (snapshot === undefined) made.set(declaration.name, null)
      else {
        const subject = {
          sessionId: session.sessionId,
          workspace: declaration.name,
          providerId: snapshot.providerId,
        }
        const onMaking = making?.of(declaration.name)
        const one = { snapshot, allowCrossSession, current, made, ...(onMaking && { onMaking }) }
        await observeHistory(services, 'restore', subject, () => restoreOne(services, owner, one))
      }
    }
  } catch (error) {
    await releaseAll(services, { session, files }, made)
    throw error
  }
  return Object.fromEntries(made)
}

async function restoreOne(
  services: RunServices,
  owner: { readonly session: SessionRef; readonly declaration: WorkspaceDeclaration },
  one: {
    readonly snapshot: SnapshotRef
    readonly allowCrossSession: boolean
    readonly current: Readonly<Record<string, WorkspaceRef>>
    readonly made: Map<string, WorkspaceRef | null>
    readonly onMaking?: NonNullable<ResolveOptions['onMaking']>
  },
): Promise<void> {
  const { name } = owner.declaration
  const { providerId } = one.snapshot
  const provider = services.providers.get(providerId)
  if (provider === undefined) throw cannotRestore(name, providerId)
  const options = resolveOptions(services, owner)
  const { allowCrossSession, onMaking } = one
  try {
    const request = { ...options, allowCrossSession, ...(onMaking && { onMaking }) }
    const made = await restoreFrom(provider, one, request)
    const { isMoved = false, provider: selection } = owner.declaration
    const moved = isMoved ? { moved: { provider: selection } } : {}
    one.made.set(name, { ...made, ...moved })
    const opened = await provider.resolve({ ...made, ...moved }, options)
    const { ws, receipt } = opened
    // Some are made when they are opened first.
    const { moved: _, ...ref } = opened.ref
    // The receipt says once what is not there: the model must read it.
    const { detail: notice } = receipt
    const told = notice === undefined ? moved : { moved: { provider: selection, notice } }
    one.made.set(name, { ...ref, ...told })
    await ws.detach?.()
    reportWaiting(services, opened, { workspace: name, session: owner.session })
  } catch (cause) {
    const detail = `the files of workspace "${name}" could not be restored`
    throw new WorkspaceFailedError('provider-failed', detail, { cause })
  }
}

/** Without a history of the provider, an open workspace makes the new one. */
async function restoreFrom(
  provider: WorkspaceProvider,
  { snapshot, current }: Pick<Parameters<typeof restoreOne>[2], 'snapshot' | 'current'>,
  options: ResolveOptions & { readonly allowCrossSession: boolean },
): Promise<WorkspaceRef> {
  const { history, providerId } = provider
  if (history !== undefined) return history.restore(snapshot, options)
  const { workspace, allowCrossSession } = options
  const ref = Object.hasOwn(current, workspace) ? current[workspace] : undefined
  if (ref?.providerId !== providerId) throw cannotRestore(workspace, providerId)
  const { ws } = await provider.resolve(ref, options)
  try {
    if (ws.snapshot === undefined) throw cannotRestore(workspace, providerId)
    return await ws.snapshot.restore(snapshot, { allowCrossSession })
  } finally {
    await ws.detach?.()
  }
}

function cannotRestore(name: string, providerId: string): WorkspaceFailedError {
  const detail = `provider ${providerId} cannot bring back the files of workspace "${name}"`
  return new WorkspaceFailedError('capability-missing', detail)
}

/** Releases backends that no session came to use. */
async function releaseAll(
  services: RunServices,
  { session, files }: Pick<RestoreFiles, 'session' | 'files'>,
  made: ReadonlyMap<string, WorkspaceRef | null>,
): Promise<void> {
  for (const { declaration } of files) {
    const ref = made.get(declaration.name)
    if (ref !== undefined && ref !== null) {
      await releaseBackend(services, ref, { session, declaration })
    }
  }
}
