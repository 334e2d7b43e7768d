import type { StoredError, TokenUsage } from '@helix-agents/core'

/**
 * Why a run failed: `max-steps`, `max-duration`, `model-failed`, `output-missing` and
 * `output-invalid` (the agent has an `outputSchema` and did not meet it), `internal`, or the
 * code of an error of the framework.
 */
export interface RunError extends StoredError {
  /** For the operator: the whole error. Not stored and not streamed. */
  readonly cause?: unknown
}

interface RunResultBase {
  readonly sessionId: string
  readonly runId: string
  /** Finished steps of the session, over all its runs. */
  readonly stepCount: number
  /** Tokens of this run, as far as the model reported them. */
  readonly usage: TokenUsage
}

/** How a run ended. */
export type AgentResult<TOutput = unknown> = RunResultBase &
  (
    | { readonly status: 'completed'; readonly output: TOutput; readonly error?: undefined }
    | { readonly status: 'failed'; readonly output?: undefined; readonly error: RunError }
    | {
        readonly status: 'aborted' | 'interrupted'
        readonly output?: undefined
        readonly error?: undefined
      }
  )

/** The end of a run before it is stored. */
export type RunOutcome =
  | { readonly status: 'completed'; readonly output: unknown }
  | { readonly status: 'failed'; readonly error: RunError }
  | { readonly status: 'aborted' | 'interrupted' }
