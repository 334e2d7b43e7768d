import { HelixError } from '../errors/helix-error.ts'
import type { Span, SpanAttributes, SpanException, Tracer } from './tracer.ts'

/** How a failure of the work of a span is recorded. */
export interface SpanFailure {
  /** Work that this signal has stopped did not fail: its span gets `helix.aborted` instead. */
  readonly signal?: AbortSignal
  /** Code of an error that is not the framework's. Default `internal`. */
  readonly fallbackCode?: string
}

/** What a span is called and what is known of it at its start. */
export interface SpanStart extends SpanFailure {
  readonly name: string
  /** `client` calls another service. Default `internal`. */
  readonly kind?: 'internal' | 'client'
  readonly attributes: SpanAttributes
}

/**
 * Runs `work` inside a span, which is active for all that `work` starts, and ends it with what
 * `work` throws. Without a tracer nothing is made: `describe` is not called, and `work` gets no
 * span.
 */
export function traced<T>(
  tracer: Tracer | undefined,
  describe: () => SpanStart,
  work: (span?: Span) => Promise<T>,
): Promise<T> {
  if (tracer === undefined) return work()
  const start = describe()
  const options = { kind: start.kind === 'client' ? 2 : 0, attributes: start.attributes } as const
  return tracer.startActiveSpan(start.name, options, (span) => inSpan(span, start, work))
}

async function inSpan<T>(
  span: Span,
  failure: SpanFailure,
  work: (span: Span) => Promise<T>,
): Promise<T> {
  try {
    return await work(span)
  } catch (error) {
    failSpan(span, error, failure)
    throw error
  } finally {
    span.end()
  }
}

/**
 * Marks a span as failed: status `ERROR`, `error.type` with the code of the error, and the
 * exception by class and code. Its message is not recorded: it may hold paths or text of a model.
 */
export function failSpan(span: Span | undefined, error: unknown, failure: SpanFailure = {}): void {
  if (span === undefined) return
  if (failure.signal?.aborted === true) span.setAttribute('helix.aborted', true)
  else failSpanWith(span, { name: nameOf(error), code: codeOf(error, failure) })
}

/** The same for an error of which only class and code are known. */
export function failSpanWith(span: Span | undefined, exception: SpanException): void {
  if (span === undefined) return
  span.setAttribute('error.type', exception.code)
  span.recordException(exception)
  span.setStatus({ code: 2 })
}

const CODES: ReadonlyMap<string, string> = new Map([
  ['AbortError', 'aborted'],
  ['TimeoutError', 'timeout'],
])

function codeOf(error: unknown, { fallbackCode = 'internal' }: SpanFailure): string {
  if (HelixError.isInstance(error)) return error.code
  return (error instanceof Error ? CODES.get(error.name) : undefined) ?? fallbackCode
}

/** Names of classes are not secret; what a foreign error calls its `name` may be. */
function nameOf(error: unknown): string {
  if (HelixError.isInstance(error)) return error.name
  return error instanceof Error ? error.constructor.name : typeof error
}
