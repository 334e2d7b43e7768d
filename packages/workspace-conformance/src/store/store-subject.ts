import type { SessionStateStore } from '@helix-agents/core'

/** A store under test; one that outlives its process offers `durable` and has `reopen`. */
export interface StoreSubject {
  readonly store: SessionStateStore
  /** The same data through a new store, as a new process would open it after a crash. */
  reopen?(): Promise<SessionStateStore>
}
