import type { LLMAdapter, LLMConfig } from '@helix-agents/core'

/** A part of an answer, as the provider streams it. */
export type PlannedPart =
  | { readonly type: 'text'; readonly pieces: readonly string[] }
  | {
      readonly type: 'reasoning'
      readonly pieces: readonly string[]
      /** What the provider wants back with the reasoning; a plain word. */
      readonly signature: string
    }
  /** `pieces` are JSON text, whole or not. */
  | {
      readonly type: 'call'
      readonly id: string
      readonly name: string
      readonly pieces: readonly string[]
    }

/** Tokens that a planned answer reports. */
export interface PlannedUsage {
  readonly inputTokens: number
  readonly outputTokens: number
  /** Part of the input. */
  readonly cachedInputTokens?: number
  /** Part of the output. */
  readonly reasoningTokens?: number
}

/** Why a provider rejects a call. */
export type PlannedFailure =
  | 'rate-limited'
  | 'quota-used-up'
  | 'overloaded'
  | 'server-error'
  | 'unauthorized'
  | 'context-length'
  | 'content-filtered'
  | 'invalid-request'

/** What a provider does with one call. */
export type PlannedTurn =
  | {
      readonly type: 'answer'
      readonly parts: readonly PlannedPart[]
      /**
       * Default `stop`, or `tool-calls` when there are any. `cut`: the connection is lost after the
       * parts. `silence`: nothing comes any more. `error`: the provider reports one instead.
       */
      readonly end?: 'stop' | 'length' | 'content-filter' | 'cut' | 'silence' | 'error'
      readonly usage?: PlannedUsage
    }
  | {
      readonly type: 'failure'
      readonly failure: PlannedFailure
      readonly retryAfterMs?: number
    }

/** A file that the provider was sent. */
export interface SeenFile {
  readonly mediaType: string
  readonly base64: string
}

/** A tool result, as the provider of the model received it. */
export interface SeenResult {
  readonly toolCallId: string
  readonly text: string
  readonly files: readonly SeenFile[]
}

/** A message that the provider was sent. Files that stand behind results belong to them or not. */
export type SeenMessage =
  | { readonly role: 'user'; readonly text: string; readonly files: readonly SeenFile[] }
  | {
      readonly role: 'assistant'
      readonly text: string
      readonly calls: readonly {
        readonly id: string
        readonly name: string
        readonly arguments: unknown
      }[]
      /** Signatures of the reasoning that came back, in their order. */
      readonly signatures: readonly string[]
    }
  | { readonly role: 'tool'; readonly results: readonly SeenResult[] }

/** A call that reached the provider. */
export interface SeenCall {
  readonly system: string
  readonly messages: readonly SeenMessage[]
  readonly tools: readonly { readonly name: string; readonly parameters: unknown }[]
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly maxOutputTokens: number | undefined
}

/** An adapter in front of a provider whose every turn is planned. */
export interface ModelSubject {
  readonly adapter: LLMAdapter
  /** The model, and what else the adapter needs of an agent. */
  readonly config: LLMConfig
  /** Adds what the provider does with its next calls. */
  plan(...turns: readonly PlannedTurn[]): void
  /** The calls that reached the provider, oldest first. */
  readonly calls: readonly SeenCall[]
  /** Lets time go by for the adapter. */
  passTime(ms: number): Promise<void>
  /** For how long the provider may be silent. */
  readonly idleTimeoutMs: number
  /**
   * A text that the provider quotes in what it writes of its failures, as providers quote keys and
   * prompts. Nothing of it may come out.
   */
  readonly secret: string
}

/**
 * What an adapter may offer: `streaming`, `tool-input` (the arguments are streamed), `reasoning`
 * (what signs it comes back), `media` (files reach the model), `failures` (the provider can fail),
 * `structured-output`, `settings` (headers and limits reach the provider).
 */
export type ModelFeature =
  | 'streaming'
  | 'tool-input'
  | 'reasoning'
  | 'media'
  | 'failures'
  | 'structured-output'
  | 'settings'
