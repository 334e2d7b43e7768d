import { toChunkJson } from './chunk-json.ts'
import type { SequencedChunk } from './chunks.ts'

/** One chunk as an event: `id` is its sequence number, `event` its type, `data` the chunk. */
export function encodeServerSentEvent(chunk: SequencedChunk): string {
  return `id: ${chunk.sequence}\nevent: ${chunk.type}\ndata: ${toChunkJson(chunk)}\n\n`
}

/**
 * The `fromSequence` for a client that sends this `Last-Event-ID`: it gets what follows the last
 * event it saw. `undefined`, for the start of the run, when the header is absent or none of ours.
 */
export function parseLastEventId(header: string | null | undefined): number | undefined {
  if (header === null || header === undefined || !/^(?:0|[1-9]\d{0,15})$/.test(header)) {
    return undefined
  }
  const fromSequence = Number(header) + 1
  return Number.isSafeInteger(fromSequence) ? fromSequence : undefined
}
