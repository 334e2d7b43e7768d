import type { Agent } from '@helix-agents/core'
import type { ReleaseOptions } from '../executor/executor-options.ts'
import type { RunServices } from '../ports.ts'
import type { CollectReport } from './collect.ts'
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
  releaseWorkspaces(
    agent: Agent,
    sessionId: string,
    options: ReleaseOptions = {},
  ): Promise<CollectReport> {
    return releaseWorkspaces(this.parts, agent, { ...options, sessionId })
  }
}
