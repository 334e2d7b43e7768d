import type { JsonValue } from '../tools/json-schema.ts'

interface ChunkBase {
  /** Id of the run. */
  readonly agentId: string
  /** Name of the agent. */
  readonly agentType: string
  /** Milliseconds since the epoch. */
  readonly timestamp: number
}

/** One operation of a JSON Patch (RFC 6902). */
export interface StatePatch {
  readonly op: 'add' | 'remove' | 'replace'
  readonly path: string
  readonly value?: unknown
}

interface ChunkFields {
  text_delta: { readonly delta: string }
  thinking: { readonly content: string; readonly isComplete: boolean }
  tool_start: {
    readonly toolCallId: string
    readonly toolName: string
    readonly arguments: unknown
  }
  /** Live output of a tool. */
  tool_progress: {
    readonly toolCallId: string
    readonly toolName: string
    readonly output: 'stdout' | 'stderr'
    readonly text: string
  }
  tool_end: {
    readonly toolCallId: string
    readonly toolName: string
    readonly success: boolean
    readonly result?: unknown
    readonly error?: { readonly code: string; readonly message: string }
  }
  subagent_start: {
    readonly toolCallId: string
    readonly subAgentType: string
    readonly subSessionId: string
  }
  subagent_end: {
    readonly toolCallId: string
    readonly subAgentType: string
    readonly subSessionId: string
    readonly success: boolean
  }
  state_patch: { readonly patches: readonly StatePatch[] }
  custom: { readonly eventName: string; readonly data: unknown }
  error: { readonly code: string; readonly message: string }
  /** The end of a run that has a result. */
  output: { readonly output: JsonValue | undefined }
  /**
   * The reader missed chunks: start again from the stored messages, then read on from here. Its
   * sequence number is the one before `nextSequence`.
   */
  stream_resync: { readonly reason: 'new-run' | 'buffer-overrun'; readonly nextSequence: number }
}

export type ChunkType = keyof ChunkFields

/** What a run says while it goes on. */
export type StreamChunk = {
  [T in ChunkType]: ChunkBase & { readonly type: T } & ChunkFields[T]
}[ChunkType]

/** A chunk in its stream: sequence numbers rise by one and are never used again. */
export type SequencedChunk = StreamChunk & { readonly sequence: number }
