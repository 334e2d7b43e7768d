import { AgentAlreadyRunningError } from '@helix-agents/core'
import type { WorkspaceRegistry } from '@helix-agents/core/runtime'
import type { AgentResult } from '../agent-result.ts'
import type { RunControl } from './run-control.ts'

/** A run of this executor that is under way. */
export interface ActiveRun {
  readonly sessionId: string
  readonly runId: string
  readonly control: RunControl
  /** Absent when the session opens no workspaces of its own. */
  readonly registry: WorkspaceRegistry | undefined
  /** How it ends. Never rejects. */
  readonly done: Promise<AgentResult>
  /** Whether what the user said is stored: once that is known. Never rejects. */
  readonly heard: Promise<boolean>
}

/** The runs of one executor. A place is taken before the run is known to the store. */
export class ActiveRuns {
  readonly #places = new Map<string, ActiveRun | 'starting'>()
  /** Starts that are under way: each ends with a run, or with none. */
  readonly #starts = new Map<string, PromiseWithResolvers<void>>()
  /** Sessions whose end is stored, while their stream still has to be ended. */
  readonly #ending = new Set<string>()

  /** @throws {AgentAlreadyRunningError} `already-running` */
  take(sessionId: string): void {
    if (this.#places.has(sessionId)) throw new AgentAlreadyRunningError(sessionId)
    this.#places.set(sessionId, 'starting')
    this.#starts.set(sessionId, Promise.withResolvers<void>())
  }

  set(run: ActiveRun): void {
    this.#places.set(run.sessionId, run)
    this.#endStart(run.sessionId)
  }

  /** Waits for the starts that are under way; with an id for that of one session. */
  async untilStarted(sessionId?: string): Promise<void> {
    if (sessionId !== undefined) await this.#starts.get(sessionId)?.promise
    else await Promise.all([...this.#starts.values()].map(({ promise }) => promise))
  }

  /** The end of the run is stored: the session is free as soon as its stream has ended. */
  noteEnding(sessionId: string): void {
    this.#ending.add(sessionId)
  }

  /** Who has read a stream to its end may start the next turn: waits for the rest of the end. */
  async untilEnded(sessionId: string): Promise<void> {
    if (this.#ending.has(sessionId)) await this.get(sessionId)?.done
  }

  release(sessionId: string): void {
    this.#places.delete(sessionId)
    this.#ending.delete(sessionId)
    this.#endStart(sessionId)
  }

  /** Whether there is a place, of a run that has ended too. */
  has(sessionId: string): boolean {
    return this.#places.has(sessionId)
  }

  isTaken(sessionId: string): boolean {
    return this.#places.has(sessionId) && !this.#ending.has(sessionId)
  }

  get(sessionId: string): ActiveRun | undefined {
    const place = this.#places.get(sessionId)
    return place === 'starting' ? undefined : place
  }

  all(): readonly ActiveRun[] {
    return [...this.#places.values()].filter((place) => place !== 'starting')
  }

  #endStart(sessionId: string): void {
    this.#starts.get(sessionId)?.resolve()
    this.#starts.delete(sessionId)
  }
}
