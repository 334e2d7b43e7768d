import { AgentAlreadyRunningError } from '@helix-agents/core'
import type { QueuedMessage, WorkspaceRegistry } from '@helix-agents/core/runtime'
import type { AgentResult } from '../agent-result.ts'
import type { RunControl } from './run-control.ts'

/** A run of this executor that is under way. */
export interface ActiveRun {
  readonly sessionId: string
  readonly runId: string
  readonly control: RunControl
  /** Absent when the session opens no workspaces of its own. */
  readonly registry: WorkspaceRegistry | undefined
  /** A message was stored for it in this process. */
  readonly onQueued: (message: Pick<QueuedMessage, 'messageId' | 'delivery'>) => void
  /** How it ends. Never rejects. */
  readonly done: Promise<AgentResult>
  /** Whether the messages of the user are stored, once that is known. Never rejects. */
  readonly acknowledged: Promise<boolean>
}

/** The runs of one executor. A session is reserved before the store knows of the run. */
export class ActiveRuns {
  readonly #places = new Map<string, ActiveRun | 'starting'>()
  /** Starts that are under way: each ends with a run, or with none. */
  readonly #starts = new Map<string, PromiseWithResolvers<void>>()
  /** Sessions whose end is stored, while their stream still has to be ended. */
  readonly #ending = new Set<string>()

  /** @throws {AgentAlreadyRunningError} `already-running` */
  reserve(sessionId: string): void {
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

  /** The end of the run is stored: its session is released once its stream has ended. */
  markEnding(sessionId: string): void {
    this.#ending.add(sessionId)
  }

  /** Waits for the rest of an end: a reader at the end of the stream may start the next turn. */
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

  isRunning(sessionId: string): boolean {
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
