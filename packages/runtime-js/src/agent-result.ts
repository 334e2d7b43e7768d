import type { TokenUsage } from '@helix-agents/core'
import type { Spending, StoredError } from '@helix-agents/core/runtime'

/**
 * Why a run failed: `max-steps`, `max-duration`, `max-tokens` and `max-cost` (a limit of the agent
 * is reached), `cost-unknown` (there is a limit of cost, and no price of the model), `output-missing` and `output-invalid` (the agent has an `outputSchema` and did not
 * meet it), `internal`, or the code of an error of the framework. That of a `ModelError` says why
 * the model did not answer; `model-failed` when nobody knows.
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
  /** Tokens of this run and its sub-agents, as far as the model reported them. */
  readonly usage: TokenUsage
  /**
   * What was used since the last `execute`: by this run and those that it resumed, with their
   * sub-agents. Absent when nothing is known of it.
   */
  readonly spending?: Spending | undefined
}

/** How a run ended. */
export type AgentResult<TOutput = unknown> = RunResultBase &
  (
    | {
        readonly status: 'completed'
        readonly output: TOutput
        readonly error?: undefined
        /**
         * The text ends where the model reached its limit of tokens. Known to the process of the
         * run; every reader finds it in the last message.
         */
        readonly isCutOff?: true
      }
    | { readonly status: 'failed'; readonly output?: undefined; readonly error: RunError }
    | {
        readonly status: 'aborted' | 'interrupted'
        readonly output?: undefined
        readonly error?: undefined
      }
  )

/** The end of a run before it is stored. */
export type RunOutcome =
  | { readonly status: 'completed'; readonly output: unknown; readonly isCutOff?: true }
  | { readonly status: 'failed'; readonly error: RunError }
  | { readonly status: 'aborted' | 'interrupted' }
