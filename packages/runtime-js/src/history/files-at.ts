import { SessionError, WorkspaceFailedError } from '@helix-agents/core'
import type { FileSystem, WorkspaceRef } from '@helix-agents/core/provider'
import type { SessionState, WorkspaceDeclaration } from '@helix-agents/core/runtime'
import type { RunServices } from '../ports.ts'
import { declarationOfRef } from '../session/end-refs.ts'
import { findOne, restoreFiles } from './checkpoint-files.ts'
import { Making } from './making.ts'
import { releaseBackend, resolveOptions } from './provider-history.ts'
import { assertReleased } from './released-limit.ts'

/** One workspace of a session. */
export interface WorkspacePlace {
  readonly services: RunServices
  readonly session: SessionState
  readonly declaration: WorkspaceDeclaration
}

type Work<T> = (files: FileSystem | undefined) => Promise<T>

/**
 * Gives the files of a checkpoint, or of `now`, to some work; `undefined` when there was no workspace.
 * Those of a checkpoint are a copy that is freed afterwards.
 */
export function withFilesAt<T>(place: WorkspacePlace, point: string, work: Work<T>): Promise<T> {
  return point === 'now' ? withFilesOfNow(place, work) : withFilesOf(place, point, work)
}

async function withFilesOf<T>(
  { services, session, declaration }: WorkspacePlace,
  checkpointId: string,
  work: Work<T>,
): Promise<T> {
  const { sessionId } = session
  const checkpoint = await services.stateStore.getCheckpoint(sessionId, checkpointId)
  if (checkpoint === null) {
    throw new SessionError('not-resumable', sessionId, `it has no checkpoint ${checkpointId}`)
  }
  const files = [findOne(checkpoint, declaration)]
  await assertReleased(services, undefined, session)
  const making = new Making(services, { sessionId })
  const current = session.workspaceRefs
  const made = await restoreFiles(services, { session, files, current, making })
  const ref = made[declaration.name] ?? undefined
  if (ref === undefined) return work(undefined)
  const owner = { session, declaration: declarationOfRef(declaration, ref) }
  try {
    return await withBackend(services, { ...owner, ref }, work)
  } finally {
    const isGone = await releaseBackend(services, ref, owner)
    if (isGone) await services.stateStore.forgetReleased(sessionId, making.ids)
  }
}

async function withFilesOfNow<T>(
  { services, session, declaration }: WorkspacePlace,
  work: Work<T>,
): Promise<T> {
  const { name } = declaration
  const live = services.active.get(session.sessionId)?.registry
  if (live !== undefined) {
    return live.use(name, (open) => work(filesOf(name, open.live.fs)), { idempotent: true })
  }
  const ref = Object.hasOwn(session.workspaceRefs, name) ? session.workspaceRefs[name] : undefined
  if (ref === undefined) return work(undefined)
  return withBackend(
    services,
    { session, ref, declaration: declarationOfRef(declaration, ref) },
    work,
  )
}

/** Opens a backend without a registry, and lets go of it. */
export async function withBackend<T>(
  services: RunServices,
  backend: Pick<WorkspacePlace, 'session' | 'declaration'> & { readonly ref: WorkspaceRef },
  work: (files: FileSystem) => Promise<T>,
): Promise<T> {
  const { declaration, ref } = backend
  const provider = services.providers.get(ref.providerId)
  if (provider === undefined) {
    throw new WorkspaceFailedError(
      'config-invalid',
      `workspace "${declaration.name}" is with provider ${ref.providerId}, which is not registered`,
    )
  }
  const { ws } = await provider.resolve(ref, resolveOptions(services, backend))
  try {
    return await work(filesOf(declaration.name, ws.fs))
  } finally {
    await ws.detach?.()
  }
}

function filesOf(name: string, files: FileSystem | undefined): FileSystem {
  if (files !== undefined) return files
  throw new WorkspaceFailedError('capability-missing', `workspace "${name}" has no files`)
}
