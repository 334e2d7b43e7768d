import type { LanguageModelV4, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { ModelError, type StepInput, type StepResult, type TokenUsage } from '@helix-agents/core'
import { AnswerCollector } from './answer/answer-collector.ts'
import { toStepResult } from './answer/to-step-result.ts'
import { toTokenUsage } from './answer/token-usage.ts'
import { AttemptSignal } from './attempt-signal.ts'
import { StreamFailure } from './failure/stream-failure.ts'
import { resolveModel } from './resolve-model.ts'
import type { StepServices } from './step-services.ts'

/** How one attempt ended. */
export type AttemptEnd =
  | { readonly result: StepResult }
  | {
      readonly failure: unknown
      /** Undefined when `llmConfig` names none. */
      readonly model: LanguageModelV4 | undefined
      /** Whether a part of the answer was emitted. */
      readonly hasSpoken: boolean
      /** It failed for files that the next attempt does without. */
      readonly leavesOut: boolean
      /** What it cost, as far as the provider said. */
      readonly usage: TokenUsage | undefined
    }

/** Makes one model call. What fails is an end as well; only an abort may be thrown. */
export async function runAttempt(input: StepInput, services: StepServices): Promise<AttemptEnd> {
  const collector = new AnswerCollector(input.callbacks)
  const signal = new AttemptSignal(input.abortSignal, services.settings)
  const usageOf = (): TokenUsage | undefined =>
    collector.end === undefined ? undefined : toTokenUsage(collector.end.usage)
  let model: LanguageModelV4 | undefined
  try {
    model = resolveModel(input.config.model)
    await readAnswer({ model, collector, signal }, services)
    const { parts, end } = collector
    if (end === undefined) throw new ModelError('connection-lost')
    return { result: toStepResult({ parts, end, usage: usageOf() }, input, model) }
  } catch (error) {
    const failure = signal.timedOut ?? (error instanceof StreamFailure ? error.cause : error)
    const { hasSpoken } = collector
    const leavesOut = model !== undefined && !hasSpoken && services.leavesOut(failure, model)
    return { failure, model, hasSpoken, leavesOut, usage: usageOf() }
  } finally {
    signal.release()
  }
}

interface Reading {
  readonly model: LanguageModelV4
  readonly collector: AnswerCollector
  readonly signal: AttemptSignal
}

async function readAnswer(reading: Reading, { warnings, optionsFor }: StepServices): Promise<void> {
  const { model, collector, signal } = reading
  const reader = await openStream(reading, optionsFor)
  try {
    for (;;) {
      const { done, value } = await signal.race(reader.read())
      if (done) return
      signal.touch()
      if (value.type === 'stream-start') warnings.log(value.warnings, model.modelId)
      collector.add(value)
    }
  } catch (error) {
    letGo(reader, () => signal.abort(error))
    throw error
  }
}

type Reader = ReadableStreamDefaultReader<LanguageModelV4StreamPart>

async function openStream(
  { model, signal }: Reading,
  optionsFor: StepServices['optionsFor'],
): Promise<Reader> {
  let call: ReturnType<LanguageModelV4['doStream']> | undefined
  try {
    call = model.doStream({ ...optionsFor(model), abortSignal: signal.signal })
    const { stream } = await signal.race(Promise.resolve(call))
    return stream.getReader()
  } catch (error) {
    signal.abort(error)
    void dropAnswer(call)
    throw error
  }
}

/** A provider that ignores the abort answers later: that answer is not read, and is released. */
async function dropAnswer(call: ReturnType<LanguageModelV4['doStream']> | undefined) {
  const cancelled = Promise.resolve(call).then((answer) => answer?.stream?.cancel())
  return Promise.allSettled([cancelled])
}

/**
 * Releases the connection without waiting. An abort in the middle of a stream fails each
 * pipe of the provider, which some platforms report as unhandled errors. So the stream
 * is cancelled first, and what is still going on then is aborted.
 */
function letGo(reader: Reader, abort: () => void): void {
  void reader.cancel().then(abort, abort)
}
