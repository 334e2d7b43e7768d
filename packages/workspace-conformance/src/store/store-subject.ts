import type { SessionStateStore } from '@helix-agents/core/runtime'

/**
 * A store under test; one that outlives its process offers `durable` and has `reopen`, one whose
 * data can be damaged from outside offers `damage`.
 */
export interface StoreSubject {
  readonly store: SessionStateStore
  /** The same data through a new store, as a new process would open it after a crash. */
  reopen?(): Promise<SessionStateStore>
  /** Makes what is stored of the head of a session unreadable. */
  damage?(sessionId: string): Promise<void>
}
