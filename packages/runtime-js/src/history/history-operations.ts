import type { Agent } from '@helix-agents/core'
import type { SessionRef } from '@helix-agents/core/provider'
import { assertAgent } from '../executor/check-arguments.ts'
import {
  assertDiffOptions,
  assertImportOptions,
  assertMoveOptions,
  assertReadFiles,
} from '../session/check-options.ts'
import type { ReleaseOptions } from '../executor/executor-options.ts'
import type { RunServices } from '../ports.ts'
import { type CollectReport, releaseEverything } from './collect.ts'
import { type DiffOptions, diffSession, type WorkspaceDiff } from './diff.ts'
import type { MoveReport } from './fill-backend.ts'
import { type MoveOptions, moveWorkspace } from './move-workspace.ts'
import { type CheckpointFiles, readFiles, type ReadFilesOptions } from './read-files.ts'
import {
  type ImportReport,
  importSession,
  type ImportSessionOptions,
} from './import/import-session.ts'
import { releaseWorkspaces } from './release-workspaces.ts'

/** What an executor does with the files of sessions that do not run. */
export abstract class HistoryOperations {
  protected abstract get parts(): RunServices

  /**
   * Frees what a session that does not run has let go and no checkpoint of it needs, and what a
   * process that died has left: backends and snapshots. Safe to call at any time, also in a loop over
   * all sessions.
   * @throws {AgentAlreadyRunningError} `already-running` while a run holds the session.
   * @throws {SessionError} `not-resumable` for an unknown session, `other-agent`
   */
  async releaseWorkspaces(
    agent: Agent,
    sessionId: string,
    options: ReleaseOptions = {},
  ): Promise<CollectReport> {
    assertAgent(agent)
    return releaseWorkspaces(this.parts, agent, { ...options, sessionId })
  }

  /**
   * Frees what a session has let go and what its checkpoints keep, for a runtime that then removes all
   * that is stored of it. Nothing else may work on the session.
   * @returns names of what is left.
   */
  protected releaseEverything(
    agent: Agent | undefined,
    session: SessionRef,
  ): Promise<readonly string[]> {
    return releaseEverything(this.parts, agent, session)
  }

  /**
   * Compares the files of two points of a session, in every workspace with a history: changed files,
   * with unified diffs of texts. Credentials in diffs are hidden.
   * @throws {SessionError} `files-missing` when a checkpoint has no files; `not-resumable` for an
   * unknown session or checkpoint, `other-agent`
   * @throws {AgentAlreadyRunningError} `already-running` for `now` while another process runs it.
   * @throws {TypeError} for arguments of the wrong type, as the other methods do.
   */
  async diff(
    agent: Agent,
    sessionId: string,
    options: DiffOptions,
  ): Promise<readonly WorkspaceDiff[]> {
    assertAgent(agent)
    assertDiffOptions(options)
    return diffSession(this.parts, agent, { ...options, sessionId })
  }

  /**
   * Gives the files of a workspace at a checkpoint to some work, as a snapshot whose blocks are read
   * when they are asked for: `exportTar` of `@helix-agents/snapshot-archive` makes a download of it.
   * @throws {SessionError} `files-missing` when the checkpoint has no files of the workspace, or
   * several workspaces have a history and none is named; `not-resumable` for an unknown session or
   * checkpoint, `other-agent`
   * @throws {WorkspaceFailedError} of a snapshot that is gone or damaged.
   */
  async readFiles<T>(
    agent: Agent,
    sessionId: string,
    options: ReadFilesOptions,
    work: (files: CheckpointFiles) => Promise<T>,
  ): Promise<T> {
    assertAgent(agent)
    assertReadFiles(options, work)
    return readFiles(this.parts, { agent, sessionId }, options, work)
  }

  /**
   * Moves a workspace of a session that does not run to another provider, with all its files: they are
   * copied, read again and compared before the session uses the new place. From then on the session
   * uses the given provider for it, whatever the agent declares; the old backend is freed once no
   * checkpoint needs it. The model reads once what the new place could not hold.
   * @throws {AgentAlreadyRunningError} `already-running`
   * @throws {SessionError} `waiting`, `not-resumable`, `other-agent`
   * @throws {WorkspaceFailedError} `config-invalid`, `capability-missing`: the provider is not
   * registered or has not what the agent declares. `provider-failed`: the copy is not the same.
   * Nothing was switched.
   * @throws {SnapshotStoreError} of files that cannot be read or written.
   */
  async moveWorkspace(
    agent: Agent,
    sessionId: string,
    name: string,
    options: MoveOptions,
  ): Promise<MoveReport> {
    assertAgent(agent)
    assertMoveOptions(name, options)
    return moveWorkspace(this.parts, agent, { ...options, sessionId, name })
  }

  /**
   * Makes a session from the conversation and the files of another one, which may be in another store:
   * `loadBranchSeed` and `readFiles` give them. Files are written, read again and compared before the
   * session is stored; the model reads once what the new place could not hold. Until then a session
   * `<id>/import` records what is made: when the process dies, the next import of the same session, or
   * `releaseWorkspaces` of the record, frees it.
   * @returns what was written, by the name of the workspace.
   * @throws {StateStoreError} `conflict`: the session exists, or one that is no record has its id.
   * @throws {SessionError} `other-agent`
   * @throws {WorkspaceFailedError} `config-invalid`: the agent declares no such workspace.
   * `capability-missing`, `provider-failed`: it has no files, or not the same. There is no session then.
   * @throws {SnapshotStoreError} of files that cannot be read or written.
   */
  async importSession(agent: Agent, options: ImportSessionOptions): Promise<ImportReport> {
    assertAgent(agent)
    assertImportOptions(options)
    return importSession(this.parts, agent, options)
  }
}
