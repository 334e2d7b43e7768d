import type { RunUsage, SessionRequest, StoredError } from '@helix-agents/core/runtime'

/**
 * Why a run failed: `max-steps`, `max-duration`, `max-tokens` and `max-cost` (a limit of the agent
 * is reached), `cost-unknown` (`budget.maxCost` is set and the price of the model is not known),
 * `output-missing` and `output-invalid` (the agent has an `outputSchema` and its output does not
 * match), `internal`, or the code of a framework error. The code of a `ModelError` says why the model
 * did not answer; `model-failed` when the reason is not known.
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
  /**
   * What was used since the last `execute`: tokens, cost, answers of the model and time of this run
   * and those that it resumed, with their sub-agents; as far as the model reported it.
   */
  readonly usage: RunUsage
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
        /** A call waits for a person: the run resumes when one of its requests is answered. */
        readonly status: 'waiting'
        /** The open requests of the session and its sub-agents, oldest first. */
        readonly requests: readonly SessionRequest[]
        readonly output?: undefined
        readonly error?: undefined
      }
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
  | { readonly status: 'waiting' }
  | { readonly status: 'aborted' | 'interrupted' }
