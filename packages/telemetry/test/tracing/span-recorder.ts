import { context } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import {
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
  type SpanProcessor,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import { beforeAll } from 'vitest'

/** Lets spans nest by the active context, as the Node SDK does. */
export function useAsyncContext(): void {
  const manager = new AsyncLocalStorageContextManager()
  beforeAll(() => void context.setGlobalContextManager(manager.enable()))
}

export function recordSpans() {
  const exporter = new InMemorySpanExporter()
  const started: string[] = []
  const noteOrder: SpanProcessor = {
    onStart: (span) => void started.push(span.spanContext().spanId),
    onEnd: () => {},
    forceFlush: async () => {},
    shutdown: async () => {},
  }
  const provider = new TracerProvider({
    spanProcessors: [noteOrder, new SimpleSpanProcessor({ exporter })],
  })
  /** The spans that ended, in the order of their starts. */
  const spans = (): readonly ReadableSpan[] =>
    exporter
      .getFinishedSpans()
      .toSorted((one, other) => started.indexOf(idOf(one)) - started.indexOf(idOf(other)))
  return {
    tracer: provider.getTracer('test'),
    startedCount: () => started.length,
    spans,
    named: (name: string) => spans().filter((span) => span.name === name),
    tree: () => treeOf(spans(), undefined, 0),
  }
}

/** One line a span, indented below its parent. */
function treeOf(
  spans: readonly ReadableSpan[],
  parentId: string | undefined,
  depth: number,
): string[] {
  return spans
    .filter((span) => span.parentSpanContext?.spanId === parentId)
    .flatMap((span) => [
      `${'  '.repeat(depth)}${span.name}`,
      ...treeOf(spans, idOf(span), depth + 1),
    ])
}

function idOf(span: ReadableSpan): string {
  return span.spanContext().spanId
}
