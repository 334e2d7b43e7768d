import type { StreamManager } from '@helix-agents/core'

/** A stream manager under test. */
export interface StreamSubject {
  readonly streams: StreamManager
  /** How many chunks of a run it keeps: at least 10; a small number keeps the suite fast. */
  readonly maxBufferedChunks: number
}
