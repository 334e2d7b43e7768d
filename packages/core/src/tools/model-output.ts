/** What a call does to the world; drives parallel scheduling and replay. */
export interface ToolAnnotations {
  /** Changes nothing: may run at the same time as other read-only calls. */
  readonly readOnly: boolean
  /** May remove or replace what was there. */
  readonly destructive: boolean
  /** Running it twice is the same as running it once: it may be repeated after a crash. */
  readonly idempotent: boolean
}

/** One part of a tool result: text, or media such as an image. */
export type ModelOutputPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'media'; readonly mediaType: string; readonly data: Uint8Array }

/** A tool result as the model reads it. */
export type ModelOutput = string | readonly ModelOutputPart[]
