import { type Agent, SessionError, WorkspaceFailedError } from '@helix-agents/core'
import { type FileSystem, takeSnapshot } from '@helix-agents/core/provider'
import {
  assertProvidersSupport,
  type SessionState,
  type WorkspaceDeclaration,
} from '@helix-agents/core/runtime'
import { holdSession, type HeldSession } from '../lease/hold-session.ts'
import { observeHistory } from '../observe/history.ts'
import type { RunServices } from '../ports.ts'
import { declarationOfRef } from '../session/end-refs.ts'
import { loadOwnSession } from '../session/load-own-session.ts'
import { FileBlocks } from './file-blocks.ts'
import { withBackend } from './files-at.ts'
import { fillBackend, type Filled, type MoveReport, snapshotOptions } from './fill-backend.ts'
import { Making } from './making.ts'
import { assertReleasedOfHeld } from './released-limit.ts'
import { tryCollect } from './release-workspaces.ts'

/** Where a workspace moves to. */
export interface MoveOptions {
  /** A registered provider and its own options, as an agent declares them. */
  readonly to: WorkspaceDeclaration['provider']
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
    const subject = { sessionId, workspace: name, providerId: to.kind }
    const report = await observeHistory(services, 'move', subject, () =>
      holdSession(services, sessionId, { work: (held) => moveHeld(move, held) }),
    )
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
  await assertReleasedOfHeld(services, move.agent, session)
  const { stateStore, clock } = services
  const intent = await stateStore.recordReleased(sessionId, { branchId: sessionId }, clock.now())
  const place = { session, declaration: declarationOfRef(declared, source), ref: source }
  const making = new Making(services, { sessionId })
  const moved = await withBackend(services, place, (files) =>
    copyTo(move, { session, making }, files),
  )
  await lease.confirm()
  const { ref, report } = moved
  await stateStore.saveWorkspaceRef({ ...lease.write(), workspace: name, ref, releasesOld: true })
  await stateStore.forgetReleased(sessionId, [intent, ...making.ids])
  return report
}

async function copyTo(
  move: Move,
  { session, making }: { readonly session: SessionState; readonly making: Making },
  files: FileSystem,
): Promise<Filled> {
  const { services, declared, to } = move
  const store = new FileBlocks(files)
  const scope = session.sessionId
  const options = snapshotOptions(services, session, declared)
  const { manifest, losses } = await takeSnapshot(files, store, options)
  const source = { manifest, store, scope }
  const place = { services, session, making, declaration: { ...declared, provider: to } }
  return fillBackend(place, { source, losses, event: 'was moved to another place' })
}
