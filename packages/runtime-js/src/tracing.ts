/** Attributes of a span. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>

/** The part of an OpenTelemetry span that the executor uses. */
export interface Span {
  setAttribute(key: string, value: string | number | boolean): unknown
  recordException(exception: Error): void
  end(): void
}

/** The part of an OpenTelemetry tracer that the executor uses. */
export interface Tracer {
  startSpan(name: string, options?: { readonly attributes?: SpanAttributes }): Span
}

interface SpanStart {
  readonly name: string
  readonly attributes: SpanAttributes
}

/** Runs `work` inside a span; without a tracer it costs nothing. */
export function traced<T>(
  tracer: Tracer | undefined,
  span: SpanStart,
  work: () => Promise<T>,
): Promise<T> {
  return tracer === undefined ? work() : inSpan(tracer, span, work)
}

async function inSpan<T>(tracer: Tracer, span: SpanStart, work: () => Promise<T>): Promise<T> {
  const live = tracer.startSpan(span.name, { attributes: span.attributes })
  try {
    return await work()
  } catch (error) {
    live.recordException(error instanceof Error ? error : new Error(String(error)))
    throw error
  } finally {
    live.end()
  }
}
