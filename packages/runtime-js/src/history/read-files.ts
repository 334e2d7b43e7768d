import { type Agent, SessionError } from '@helix-agents/core'
import {
  type SnapshotLoss,
  type SnapshotManifest,
  type SnapshotStore,
  takeSnapshot,
} from '@helix-agents/core/provider'
import type { RunServices } from '../ports.ts'
import { loadOwnSession } from '../session/load-own-session.ts'
import { FileBlocks } from './file-blocks.ts'
import { withFilesAt } from './files-at.ts'

/** Which files are read. */
export interface ReadFilesOptions {
  readonly checkpointId: string
  /** Default: the one workspace with a history. */
  readonly workspace?: string
}

/** The files of a workspace at a checkpoint, as long as the work takes. */
export interface CheckpointFiles {
  readonly manifest: SnapshotManifest
  /** Holds the blocks of the manifest, and nothing else. */
  readonly store: SnapshotStore
  readonly scope: string
  /** What the snapshot could not hold of the files. Default: nothing. */
  readonly losses?: readonly SnapshotLoss[]
}

/** Gives the files of a checkpoint to some work; what was made for it is freed afterwards. */
export async function readFiles<T>(
  services: RunServices,
  { agent, sessionId }: { readonly agent: Agent; readonly sessionId: string },
  { checkpointId, workspace }: ReadFilesOptions,
  work: (files: CheckpointFiles) => Promise<T>,
): Promise<T> {
  const session = await loadOwnSession(services, agent, sessionId)
  const declaration = declarationOf(agent, sessionId, workspace)
  const place = { services, session, declaration }
  return withFilesAt(place, checkpointId, async (files) => {
    const { name, provider } = declaration
    if (files === undefined) throw missing(sessionId, `"${name}" was not there at that time`)
    const store = new FileBlocks(files)
    const { manifest, losses } = await takeSnapshot(files, store, {
      scope: sessionId,
      session,
      workspace: name,
      workspaceId: name,
      providerId: provider.kind,
      clock: services.clock,
    })
    return work({ manifest, store, scope: sessionId, losses })
  })
}

function declarationOf(agent: Agent, sessionId: string, workspace: string | undefined) {
  const withHistory = Object.values(agent.workspaces).filter((one) => one.history !== undefined)
  const wanted = withHistory.filter(({ name }) => (workspace ?? name) === name)
  const [declaration, ...others] = wanted
  if (declaration === undefined) {
    const which = workspace === undefined ? 'no workspace' : `no workspace "${workspace}"`
    throw missing(sessionId, `there is ${which} with a history`)
  }
  if (others.length === 0) return declaration
  throw missing(sessionId, `one of ${wanted.map(({ name }) => name).join(', ')} must be named`)
}

function missing(sessionId: string, detail: string): SessionError {
  return new SessionError('files-missing', sessionId, detail)
}
