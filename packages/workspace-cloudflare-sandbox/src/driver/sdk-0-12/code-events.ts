import { decodeBase64 } from '@helix-agents/core'
import { EventSourceParserStream } from 'eventsource-parser/stream'
import type { DriverCodeOutcome, DriverCodeOutput } from '../port.ts'
import { field } from './error-shape.ts'

/** What an interpreter reports, one thing at a time. */
export type CodeEvent =
  | { readonly type: 'output'; readonly output: DriverCodeOutput }
  | { readonly type: 'error'; readonly error: NonNullable<DriverCodeOutcome['error']> }
  | { readonly type: 'complete' }

/** Reads the events of a run; those it does not know are left out. */
export async function* readCodeEvents(
  stream: ReadableStream<Uint8Array>,
): AsyncGenerator<CodeEvent> {
  const messages = stream
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream())
  for await (const { data } of messages) yield* toEvents(parse(data))
}

function parse(data: string): unknown {
  try {
    return JSON.parse(data)
  } catch {
    // A comment or a keep-alive.
    return undefined
  }
}

function toEvents(event: unknown): readonly CodeEvent[] {
  switch (field(event, 'type')) {
    case 'stdout':
      return [output({ type: 'stdout', text: textOf(field(event, 'text')) })]
    case 'stderr':
      return [output({ type: 'stderr', text: textOf(field(event, 'text')) })]
    case 'result':
      return resultsOf(event).map(output)
    case 'error':
      return [{ type: 'error', error: errorOf(event) }]
    case 'execution_complete':
      return [{ type: 'complete' }]
    default:
      return []
  }
}

const DISPLAYS: readonly (readonly [name: string, mime: string, isBinary: boolean])[] = [
  ['png', 'image/png', true],
  ['jpeg', 'image/jpeg', true],
  ['svg', 'image/svg+xml', false],
  ['html', 'text/html', false],
  ['markdown', 'text/markdown', false],
  ['latex', 'text/latex', false],
  ['javascript', 'application/javascript', false],
]

function resultsOf(event: unknown): readonly DriverCodeOutput[] {
  const displays = DISPLAYS.flatMap(([name, mime, isBinary]) => {
    const value = field(event, name)
    if (typeof value !== 'string') return []
    const data = isBinary ? decodeBase64(value) : new TextEncoder().encode(value)
    return [{ type: 'display' as const, mime, data }]
  })
  const value = field(event, 'json') ?? field(event, 'data') ?? field(event, 'chart')
  if (value !== undefined) return [...displays, { type: 'result', value }]
  const text = field(event, 'text')
  // Beside a picture the text only says that there is one.
  if (displays.length > 0 || text === undefined) return displays
  return [{ type: 'result', value: text }]
}

function errorOf(event: unknown): NonNullable<DriverCodeOutcome['error']> {
  const trace = field(event, 'traceback')
  return {
    name: textOf(field(event, 'ename')) || 'Error',
    message: textOf(field(event, 'evalue')),
    ...(Array.isArray(trace) && trace.length > 0 && { trace: trace.join('\n') }),
  }
}

function output(value: DriverCodeOutput): CodeEvent {
  return { type: 'output', output: value }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
