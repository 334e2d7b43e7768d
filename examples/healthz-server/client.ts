import type { SequencedChunk } from '@helix-agents/core/runtime'
import { EventSourceParserStream } from 'eventsource-parser/stream'

/**
 * Reads the chunks of a body of server-sent events. Returns whether the stream came to its end;
 * otherwise the connection did, and the reader connects again with the last sequence it saw.
 */
export async function* readChunks(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
): AsyncGenerator<SequencedChunk, boolean> {
  const events = body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream())
  for await (const { event, data } of events) {
    if (event === 'end') return true
    yield JSON.parse(data) as SequencedChunk
  }
  return false
}

/** Follows the stream of a session, from its start or after the last chunk seen. */
export async function* followSession(
  streamUrl: string,
  lastSequence?: number,
): AsyncGenerator<SequencedChunk, boolean> {
  const headers = lastSequence === undefined ? {} : { 'Last-Event-ID': String(lastSequence) }
  const response = await fetch(streamUrl, { headers })
  if (response.status === 204) return true
  if (!response.ok || response.body === null) throw new Error(`no stream: ${response.status}`)
  return yield* readChunks(response.body)
}
