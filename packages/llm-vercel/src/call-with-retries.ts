import { ModelError, type StepInput, type StepResult, type TokenUsage } from '@helix-agents/core'
import { backoffMs } from '@helix-agents/core/provider'
import { type AdapterSettings, parseRetries } from './adapter-options.ts'
import { type AttemptEnd, runAttempt } from './run-attempt.ts'
import type { StepServices } from './step-services.ts'
import { addUsage } from './answer/token-usage.ts'
import { toModelError } from './failure/to-model-error.ts'

/**
 * Makes a model call until it succeeds, as often as the policy allows. The retries of the AI SDK
 * are part of `streamText`; these are emitted to the stream, wait on the clock of the framework, wait
 * as long as the provider asks, and also follow an answer that broke off in the middle.
 */
export async function callWithRetries(
  input: StepInput,
  services: StepServices,
): Promise<StepResult> {
  const { settings } = services
  const maxRetries = retriesOf(input, settings)
  if (typeof maxRetries !== 'number') return { type: 'error', error: maxRetries, shouldStop: true }
  let spent: TokenUsage | undefined
  for (let attempt = 1; ; attempt += 1) {
    const end = await attemptReadable(input, services)
    if ('result' in end) return withUsage(end.result, spent)
    input.abortSignal.throwIfAborted()
    spent = addUsage(spent, end.usage)
    show(end.failure, settings)
    const error = toModelError(end.failure, settings.clock.now(), end.model)
    const delayMs = delayOf(error, attempt, settings)
    const isLast = !error.retryable || attempt > maxRetries || delayMs > settings.maxRetryDelayMs
    if (isLast) return withUsage({ type: 'error', error, shouldStop: true }, spent)
    const discardsOutput = end.hasSpoken
    input.callbacks.onRetry?.({ error, attempt, delayMs, discardsOutput })
    await settings.clock.sleep(delayMs, input.abortSignal)
  }
}

/** Nothing was sent of a call whose files its provider refused: what is left of it is no retry. */
async function attemptReadable(input: StepInput, services: StepServices): Promise<AttemptEnd> {
  for (;;) {
    const end = await runAttempt(input, services)
    if ('result' in end || !end.leavesOut) return end
    input.abortSignal.throwIfAborted()
  }
}

/**
 * What the provider asks for; otherwise, and when that is no time at all, longer each time, and not
 * the same for all sessions.
 */
function delayOf({ retryAfterMs }: ModelError, attempt: number, settings: AdapterSettings): number {
  if (retryAfterMs !== undefined && retryAfterMs > 0) return retryAfterMs
  return Math.min(backoffMs(attempt - 1, settings.random), settings.maxRetryDelayMs)
}

/** A setting of the agent or of its hook: what is no count fails the call, not the adapter. */
function retriesOf({ config }: StepInput, settings: AdapterSettings): number | ModelError {
  try {
    return parseRetries(config.maxRetries ?? settings.maxRetries)
  } catch (cause) {
    return new ModelError('invalid-request', { detail: 'maxRetries is no count', cause })
  }
}

/** Reports what was thrown to the operator; a failing observer changes nothing. */
function show(failure: unknown, { onProviderError, logger }: AdapterSettings): void {
  try {
    onProviderError(failure)
  } catch (err) {
    logger.warn({ err }, 'onProviderError failed')
  }
}

function withUsage(result: StepResult, spent: TokenUsage | undefined): StepResult {
  const usage = addUsage(result.usage, spent)
  return usage === undefined ? result : { ...result, usage }
}
