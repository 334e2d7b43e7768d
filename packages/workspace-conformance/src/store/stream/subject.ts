import type { StreamManager } from '@helix-agents/core/runtime'

/**
 * A stream manager under test; one whose streams outlive its process offers `durable`, one whose
 * readers follow a writer in another process offers `shared` as well. Both have `reopen`. One whose
 * waiting readers have a chunk within the turn of the event loop in which it was written offers
 * `immediate`: without a server between them, that is all.
 */
export interface StreamSubject {
  readonly streams: StreamManager
  /** How many chunks of a run it keeps: at least 10; a small number keeps the suite fast. */
  readonly maxBufferedChunks: number
  /** The same streams through a new manager, as another process has them. */
  reopen?(): Promise<StreamManager>
}
