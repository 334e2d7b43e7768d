import { AgentAlreadyRunningError, type WorkspaceRegistry } from '@helix-agents/core'
import type { AgentResult } from './agent-result.ts'
import type { RunControl } from './run/run-control.ts'

/** A run of this executor that is under way. */
export interface ActiveRun {
  readonly sessionId: string
  readonly runId: string
  readonly control: RunControl
  /** Absent when the session opens no workspaces of its own. */
  readonly registry: WorkspaceRegistry | undefined
  /** How it ends. Never rejects. */
  readonly done: Promise<AgentResult>
}

/** The runs of one executor. A place is taken before the run is known to the store. */
export class ActiveRuns {
  readonly #places = new Map<string, ActiveRun | 'starting'>()

  /** @throws {AgentAlreadyRunningError} `already-running` */
  take(sessionId: string): void {
    if (this.#places.has(sessionId)) throw new AgentAlreadyRunningError(sessionId)
    this.#places.set(sessionId, 'starting')
  }

  set(run: ActiveRun): void {
    this.#places.set(run.sessionId, run)
  }

  release(sessionId: string): void {
    this.#places.delete(sessionId)
  }

  isTaken(sessionId: string): boolean {
    return this.#places.has(sessionId)
  }

  get(sessionId: string): ActiveRun | undefined {
    const place = this.#places.get(sessionId)
    return place === 'starting' ? undefined : place
  }

  all(): readonly ActiveRun[] {
    return [...this.#places.values()].filter((place) => place !== 'starting')
  }
}
