import { eventStream } from '../commands/event-stream.ts'
import { dataEvent } from '../server-sent-events.ts'
import { ServiceError } from '../service-error.ts'
import {
  CodeContext,
  type ContextRequest,
  type ContextView,
  type InterpreterEvent,
  languageOf,
} from './code-context.ts'
import { ServiceTarget } from '../service-target.ts'

/** The caller's functions, each of them at the other end of the connection. */
export interface RunCallbacks {
  onStdout?(output: { readonly text: string; readonly timestamp: number }): unknown
  onStderr?(output: { readonly text: string; readonly timestamp: number }): unknown
  onResult?(result: Readonly<Record<string, unknown>>): unknown
  onError?(error: object): unknown
}

/** `interpreter`: code in contexts that remember. Nothing is reported before a run is over. */
export class InterpreterTarget extends ServiceTarget {
  async createCodeContext(request: ContextRequest = {}): Promise<ContextView> {
    return (await this.#create(request)).view()
  }

  async runCodeStream(
    contextId: string | undefined,
    code: string,
    language: string | undefined,
    // The protocol has five.
    ...[callbacks = {}, timeoutMs]: [callbacks?: RunCallbacks, timeoutMs?: number]
  ): Promise<void> {
    const context = await this.#find(contextId, language)
    for (const event of await context.run(code, timeoutMs)) {
      // oxlint-disable-next-line no-await-in-loop -- one event after the other
      await call(callbacks, event)
    }
  }

  async streamCode(
    contextId: string | undefined,
    code: string,
    language?: string,
  ): Promise<ReadableStream<Uint8Array>> {
    const context = await this.#find(contextId, language)
    const { stream, sink } = eventStream(this.connection.closed)
    const write = async (): Promise<void> => {
      for (const event of await context.run(code)) sink.write(dataEvent(wireEvent(event)))
      sink.end()
    }
    void write()
    return stream
  }

  listCodeContexts(): ContextView[] {
    return [...this.container.contexts.values()].map((context) => context.view())
  }

  deleteCodeContext(contextId: string): void {
    this.#known(contextId).end()
    this.container.contexts.delete(contextId)
  }

  async #create(request: ContextRequest): Promise<CodeContext> {
    const context = await CodeContext.create(request, this.container.executors)
    this.container.contexts.set(context.id, context)
    return context
  }

  /** Without an id, whichever context of the language there is. */
  async #find(contextId: string | undefined, language: string | undefined): Promise<CodeContext> {
    if (contextId !== undefined) return this.#known(contextId)
    const wanted = languageOf(language)
    const found = [...this.container.contexts.values()].find((known) => known.language === wanted)
    return found ?? this.#create({ language: wanted })
  }

  #known(contextId: string): CodeContext {
    const context = this.container.contexts.get(contextId)
    if (context !== undefined) return context
    throw new ServiceError('CONTEXT_NOT_FOUND', `context ${contextId} not found`, { contextId })
  }
}

async function call(callbacks: RunCallbacks, event: InterpreterEvent): Promise<void> {
  if (event.type === 'stdout' || event.type === 'stderr') {
    const output = { text: event.text, timestamp: Date.now() }
    await (event.type === 'stdout' ? callbacks.onStdout?.(output) : callbacks.onStderr?.(output))
  } else if (event.type === 'result') {
    const { type: _, ...formats } = event
    await callbacks.onResult?.(formats)
  } else if (event.type === 'error') {
    const { message, name, traceback } = event
    await callbacks.onError?.({ name, message, traceback })
  }
}

function wireEvent(event: InterpreterEvent): object {
  const { type } = event
  if (type === 'end') {
    return { type: 'execution_complete', execution_count: event.executionCount }
  }
  if (type !== 'error') return { ...event, timestamp: Date.now() }
  return { type, ename: event.name, evalue: event.message, traceback: event.traceback }
}
