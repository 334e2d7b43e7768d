/** Values of attributes. Never what a model, a user or a file says. */
export type SpanAttributeValue = string | number | boolean | string[]

/** Attributes of a span. */
export type SpanAttributes = Readonly<Record<string, SpanAttributeValue>>

/** An error, reduced to what may leave the process: its class and its code, no text. */
export interface SpanException {
  readonly name: string
  readonly code: string
}

/** The part of an OpenTelemetry span that the framework uses. */
export interface Span {
  setAttribute(key: string, value: SpanAttributeValue): unknown
  setAttributes(attributes: SpanAttributes): unknown
  /** Code 2 is `ERROR`; a span that ended well has no status. */
  setStatus(status: { readonly code: 2 }): unknown
  recordException(exception: SpanException): void
  end(): void
}

/** Options of a new span. */
export interface SpanOptions {
  /** 0 is `INTERNAL`, 2 is `CLIENT`: the call of another service. */
  readonly kind?: 0 | 2
  readonly attributes?: SpanAttributes
}

/**
 * The part of an OpenTelemetry tracer that the framework uses: a tracer of `@opentelemetry/api`
 * fits as it is. A span that starts while another one is active belongs below it. No method may
 * throw, except what `work` throws.
 */
export interface Tracer {
  startActiveSpan<T>(name: string, options: SpanOptions, work: (span: Span) => T): T
}
