import {
  cutChunk,
  type SequencedChunk,
  type StreamChunk,
  toChunkJson,
} from '@helix-agents/core/runtime'
import { damaged } from '../state/columns/column.ts'

/** A chunk as it is stored. */
export interface ChunkText {
  readonly json: string
  /** Length of the JSON in UTF-8. */
  readonly bytes: number
}

const encoder = new TextEncoder()

/** Any chunk has a text, and none is larger than `maxBytes`. Never throws. */
export function toChunkText(chunk: StreamChunk, maxBytes: number): ChunkText {
  const whole = measure(toJson(chunk))
  return whole.bytes <= maxBytes ? whole : measure(cutChunk(whole.json, maxBytes))
}

/** @throws {SqlError} `corrupt` */
export function fromChunkText(json: string, sequence: number): SequencedChunk {
  return Object.assign(parseChunk(json), { sequence })
}

/** The chunk of a text. @throws {SqlError} `corrupt` */
export function parseChunk(json: string): StreamChunk {
  const chunk = parse(json)
  if (typeof chunk !== 'object' || chunk === null || !('type' in chunk)) throw damaged('a chunk')
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by toChunkText
  return chunk as StreamChunk
}

function measure(json: string): ChunkText {
  return { json, bytes: encoder.encode(json).length }
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

function parse(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch (error) {
    throw damaged('a chunk', error)
  }
}
