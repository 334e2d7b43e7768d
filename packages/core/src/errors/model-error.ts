import { HelixError, type HelixErrorOptions } from './helix-error.ts'

/**
 * `rate-limited`: the provider accepts no more calls at the moment, or the quota is used up. `overloaded`:
 * the provider has no capacity at the moment. `unauthorized`: the key is missing, wrong, or not
 * allowed to use the model. `context-length`: the conversation is longer than the model takes; see
 * `prepareStep`. `content-filtered`: the provider rejected the conversation or the answer.
 * `malformed-tool-call`: the model asked for a tool in a way that its provider could not read.
 * `connection-lost`: the network failed, or the answer ended in the middle. `timeout`: the provider
 * stalled for too long. `invalid-request`: the provider does not accept the call as it is: its
 * model, its settings or its tools. `answer-too-large`: the answer was over `contentLimits`, and is
 * not kept. `model-failed`: the provider failed for another reason.
 */
export type ModelErrorCode =
  | 'rate-limited'
  | 'overloaded'
  | 'unauthorized'
  | 'context-length'
  | 'content-filtered'
  | 'malformed-tool-call'
  | 'connection-lost'
  | 'timeout'
  | 'invalid-request'
  | 'answer-too-large'
  | 'model-failed'

/** Options of `ModelError`. */
export interface ModelErrorOptions extends HelixErrorOptions {
  /** Default: what is usual for the code. */
  readonly retryable?: boolean
  /** How long the provider asks to wait, in milliseconds. */
  readonly retryAfterMs?: number
  /** HTTP status of the answer. */
  readonly statusCode?: number
  /** Says what happened in place of the sentence of the code. Nothing secret. */
  readonly problem?: string
  /** Further facts in plain words, such as the error code of the provider. Nothing secret. */
  readonly detail?: string
}

const SENTENCES: Readonly<Record<ModelErrorCode, string>> = {
  'rate-limited': 'the provider of the model accepts no more calls at the moment',
  overloaded: 'the provider of the model is overloaded',
  unauthorized: 'the provider of the model refused the key, or there is none',
  'context-length': 'the conversation is longer than the model takes',
  'content-filtered': 'the provider of the model refused the content',
  'malformed-tool-call': 'the model made a tool call that cannot be read',
  'connection-lost': 'the connection to the model was lost',
  timeout: 'the model did not answer in time',
  'invalid-request': 'the provider of the model does not accept the call',
  'answer-too-large': 'the answer of the model is larger than a session keeps',
  'model-failed': 'the model call failed',
}

const RETRYABLE: ReadonlySet<ModelErrorCode> = new Set([
  'rate-limited',
  'overloaded',
  'malformed-tool-call',
  'connection-lost',
  'timeout',
])

/**
 * A model call failed. Its message never holds what the provider wrote: that may quote a key or
 * the prompt.
 */
export class ModelError extends HelixError {
  override readonly name = 'ModelError'
  readonly code: ModelErrorCode
  readonly transient: boolean
  /** Whether the same call may succeed later. The same as `transient`. */
  readonly retryable: boolean
  readonly retryAfterMs?: number
  readonly statusCode?: number

  constructor(code: ModelErrorCode, options: ModelErrorOptions = {}) {
    super(sentence(code, options), options)
    this.code = code
    this.retryable = options.retryable ?? RETRYABLE.has(code)
    this.transient = this.retryable
    const { retryAfterMs } = options
    // A date in the past, or no time at all, says nothing.
    if (retryAfterMs !== undefined && retryAfterMs >= 0 && retryAfterMs < Infinity) {
      this.retryAfterMs = retryAfterMs
    }
    if (options.statusCode !== undefined) this.statusCode = options.statusCode
  }

  static override isInstance(value: unknown): value is ModelError {
    return HelixError.isInstance(value) && value.name === 'ModelError'
  }
}

function sentence(code: ModelErrorCode, options: ModelErrorOptions): string {
  const { statusCode, detail, problem = SENTENCES[code] } = options
  const facts = [statusCode === undefined ? '' : `status ${statusCode}`, detail ?? '']
  const known = facts.filter((fact) => fact !== '')
  return known.length === 0 ? problem : `${problem} (${known.join(', ')})`
}
