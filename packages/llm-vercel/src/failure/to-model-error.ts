import { ModelError, type ModelErrorCode } from '@helix-agents/core'
import type { ModelErrorOptions } from '@helix-agents/core/runtime'
import { type AskedModel, describeProblem } from './describe-problem.ts'
import { type FailureFacts, readFailure } from './failure-facts.ts'
import { isPlainWord } from './plain-word.ts'
import { readRetryAfter } from './retry-after.ts'

type Test = (facts: FailureFacts) => boolean

const CONTEXT_LENGTH =
  /context.?(length|window)|prompt is too long|(input|request) is too long|exceed context limit|maximum (context|number of tokens)|too many (input )?tokens|reduce the length/
const FILTER = /content.?(filter|policy|management)|responsible.?ai|safety|moderation|refusal/
const MALFORMED = /tool_use_failed|malformed.?function.?call|failed to call a function/

/** First match wins: a provider may say the same of a call with several statuses. */
const RULES: readonly (readonly [ModelErrorCode, Test])[] = [
  ['timeout', ({ name }) => name === 'TimeoutError'],
  ['rate-limited', (facts) => hasCode(facts, /insufficient_quota|rate_limit|resource_exhausted/)],
  ['overloaded', (facts) => hasCode(facts, /overloaded|unavailable|capacity/)],
  ['malformed-tool-call', (facts) => hasCode(facts, MALFORMED) || isBadCall(facts, MALFORMED)],
  [
    'context-length',
    (facts) => hasCode(facts, /context_length/) || isBadCall(facts, CONTEXT_LENGTH),
  ],
  ['content-filtered', (facts) => hasCode(facts, FILTER) || isBadCall(facts, FILTER)],
  ['invalid-request', ({ name }) => name === 'AgentDefinitionError'],
  ['unauthorized', ({ name }) => /LoadAPIKeyError|AuthenticationError|NoSuchProvider/.test(name)],
  ['unauthorized', (facts) => hasCode(facts, /authentication|invalid_api_key|permission/)],
  ['unauthorized', ({ status }) => status === 401 || status === 403],
  ['rate-limited', ({ status }) => status === 429],
  ['overloaded', ({ status }) => status === 503 || status === 529],
  ['timeout', ({ status }) => status === 408 || status === 504],
  [
    'connection-lost',
    ({ networkCodes }) => networkCodes.some((code) => !/TIMEOUT|TIMEDOUT/.test(code)),
  ],
  ['timeout', ({ networkCodes }) => networkCodes.length > 0],
  ['context-length', ({ status }) => status === 413],
  ['invalid-request', ({ status }) => status !== undefined && status < 500],
  [
    'invalid-request',
    ({ name }) => /Unsupported|NoSuchModel|InvalidPrompt|InvalidArgument|LoadSetting/.test(name),
  ],
  ['connection-lost', (facts) => isCutOff(facts)],
]

const HINTS: Readonly<Partial<Record<ModelErrorCode, string>>> = {
  unauthorized: 'Check the key of the provider and what it may use.',
  'context-length': 'Let a prepareStep hook of the agent shorten the conversation.',
}

/**
 * What went wrong with a model call, in the words of the framework. What the provider wrote is only
 * looked into: it may quote the key or the prompt, and errors are logged.
 */
export function toModelError(failure: unknown, now: number, asked?: AskedModel): ModelError {
  if (ModelError.isInstance(failure)) return failure
  const facts = readFailure(failure)
  const code = RULES.find(([, test]) => test(facts))?.[0] ?? 'model-failed'
  const retryAfterMs = readRetryAfter(facts.headers, now)
  const hint = HINTS[code]
  return new ModelError(code, {
    ...retryableOf(code, facts),
    ...(facts.status !== undefined && { statusCode: facts.status }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(hint !== undefined && { hint }),
    ...describeProblem(code, facts, asked),
    ...detailOf(facts),
    cause: toSafeCause(facts),
  })
}

function retryableOf(code: ModelErrorCode, facts: FailureFacts): ModelErrorOptions {
  // No wait brings a used-up quota back.
  if (hasCode(facts, /insufficient_quota|billing/)) return { retryable: false }
  if (code !== 'model-failed') return {}
  const isServerError = facts.status !== undefined && facts.status >= 500
  return { retryable: facts.isRetryable ?? isServerError }
}

function detailOf({ codes, networkCodes }: FailureFacts): { readonly detail?: string } {
  const plain = [...networkCodes, ...codes].find((code) => isPlainWord(code) && code !== 'error')
  return plain === undefined ? {} : { detail: plain }
}

/** For the log: which error it was and where it came from, without a word of the provider. */
function toSafeCause({ name, status, codes, networkCodes }: FailureFacts): Error {
  const known = status === undefined ? [] : [`status ${status}`]
  const cause = new Error([...known, ...codes.filter(isPlainWord), ...networkCodes].join(', '))
  if (isPlainWord(name)) cause.name = name
  return cause
}

function hasCode({ codes }: FailureFacts, pattern: RegExp): boolean {
  return codes.some((code) => pattern.test(code))
}

/** What the provider wrote decides only where it says that the call itself is at fault. */
function isBadCall({ status, text }: FailureFacts, pattern: RegExp): boolean {
  return (status === 400 || status === 413 || status === 422) && pattern.test(text)
}

/** A stream that ended or broke in the middle. */
function isCutOff({ name, text }: FailureFacts): boolean {
  if (/JSONParseError|EmptyResponseBody/.test(name)) return true
  return /terminated|fetch failed|network|socket|connection|premature|aborted|successful response/.test(
    text,
  )
}
