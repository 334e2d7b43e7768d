import { ContentMeter, cutChunk, type StreamChunk, toChunkJson } from '@helix-agents/core/runtime'

/** A chunk that fits, and about how much memory it keeps. */
export interface BoundedChunk {
  readonly chunk: StreamChunk
  readonly bytes: number
}

/** What JSON may write for one character. */
const BYTES_OF_A_CHARACTER = 6

/** The chunk as it is, unless it is too large: then its biggest fields are cut. Never throws. */
export function boundChunk(chunk: StreamChunk, maxBytes: number): BoundedChunk {
  const characters = charactersOf(chunk)
  if (characters !== undefined && characters * BYTES_OF_A_CHARACTER <= maxBytes) {
    return { chunk, bytes: characters }
  }
  const json = toJson(chunk)
  const bytes = new TextEncoder().encode(json).length
  if (bytes <= maxBytes && characters !== undefined) return { chunk, bytes }
  const cut = bytes <= maxBytes ? json : cutChunk(json, maxBytes)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the JSON of a chunk
  return { chunk: JSON.parse(cut) as StreamChunk, bytes: cut.length }
}

/** Undefined for a chunk that must be inspected as JSON. */
function charactersOf(chunk: StreamChunk): number | undefined {
  const meter = new ContentMeter()
  try {
    return meter.value(chunk) === undefined ? meter.characters : undefined
  } catch {
    return undefined
  }
}

/** What cannot be inspected, such as a getter that throws, leaves a chunk without its fields. */
function toJson(chunk: StreamChunk): string {
  try {
    return toChunkJson(chunk)
  } catch {
    const { type, agentId, agentType, timestamp } = chunk
    return JSON.stringify({ type, agentId, agentType, timestamp, truncated: Object.keys(chunk) })
  }
}
