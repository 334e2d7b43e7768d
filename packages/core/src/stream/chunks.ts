import type {
  MessageDelivery,
  RequestKind,
  RequestPreview,
  RequestResolution,
} from '../state/session-requests.ts'
import type { JsonValue } from '../tools/json-schema.ts'

interface ChunkBase {
  /** Id of the run. */
  readonly agentId: string
  /** Name of the agent. */
  readonly agentType: string
  /** Milliseconds since the epoch. */
  readonly timestamp: number
  /**
   * Names of fields that a store has cut down, because the chunk was larger than it takes. Texts,
   * and the JSON of values of any type, keep their beginning, as a string; `patches` is empty.
   */
  readonly truncated?: readonly string[]
}

/** One operation of a JSON Patch (RFC 6902). */
export interface StatePatch {
  readonly op: 'add' | 'remove' | 'replace'
  readonly path: string
  readonly value?: unknown
}

interface ChunkFields {
  /** A piece of what the model says. */
  text_delta: { readonly delta: string }
  /** What the model thinks: a piece of it, or the whole when it is complete. */
  thinking: { readonly content: string; readonly isComplete: boolean }
  /** A piece of the arguments of a tool call that the model is writing, as JSON text. */
  tool_input_delta: {
    readonly toolCallId: string
    readonly toolName: string
    readonly delta: string
  }
  /**
   * A model call failed and is made again. With `discardsOutput` the failed one had said something:
   * drop its `text_delta`, `thinking` and `tool_input_delta` chunks, which are those since the last
   * stored message, and read on.
   */
  model_retry: {
    readonly code: string
    readonly message: string
    /** The attempt that failed; counts from 1. */
    readonly attempt: number
    /** Time until the next attempt. */
    readonly delayMs: number
    readonly discardsOutput: boolean
  }
  /** A tool is called. */
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
  /** A tool has answered: with its result, or with what went wrong. */
  tool_end: {
    readonly toolCallId: string
    readonly toolName: string
    readonly success: boolean
    readonly result?: unknown
    readonly error?: { readonly code: string; readonly message: string }
  }
  /** A call waits for a person: the request is stored. */
  approval_request: {
    readonly requestId: string
    readonly toolCallId: string
    readonly toolName: string
    readonly kind: RequestKind
    readonly arguments: unknown
    /** Without its `basis`. */
    readonly preview: Omit<RequestPreview, 'basis'>
    /** Milliseconds since the epoch. */
    readonly expiresAt?: number
    /** Names of the agents from the root to the one that asks. */
    readonly agentPath: readonly string[]
  }
  /** A run acts on the answer to a request. */
  approval_resolved: {
    readonly requestId: string
    readonly toolCallId: string
    readonly decision: RequestResolution['decision']
    /** Who answered, as the caller of `respond` says. */
    readonly by?: string
    readonly reason?: string
  }
  /** A message was sent to the session; it reaches the model later. */
  message_queued: { readonly messageId: string; readonly delivery: MessageDelivery }
  /** A sub-agent starts; its chunks are in this stream too, under its own `agentType`. */
  subagent_start: {
    readonly toolCallId: string
    readonly subAgentType: string
    readonly subSessionId: string
  }
  /** A sub-agent has ended. */
  subagent_end: {
    readonly toolCallId: string
    readonly subAgentType: string
    readonly subSessionId: string
    readonly success: boolean
  }
  /** The custom state has changed, as a JSON Patch. */
  state_patch: { readonly patches: readonly StatePatch[] }
  /** What a tool wants to be known. */
  custom: { readonly eventName: string; readonly data: unknown }
  /** The end of a run that failed. */
  error: { readonly code: string; readonly message: string }
  /** The end of a run that has a result. */
  output: { readonly output: JsonValue | undefined }
  /**
   * The reader missed chunks: start again from the stored messages, then read on from here. Its
   * sequence number is the one before `nextSequence`.
   */
  stream_resync: { readonly reason: 'new-run' | 'buffer-overrun'; readonly nextSequence: number }
}

/** Type of a stream chunk. */
export type ChunkType = keyof ChunkFields

/** What a run emits while it is active. */
export type StreamChunk = {
  [T in ChunkType]: ChunkBase & { readonly type: T } & ChunkFields[T]
}[ChunkType]

/** A chunk in its stream: sequence numbers rise by one and are never used again. */
export type SequencedChunk = StreamChunk & { readonly sequence: number }
