import { encodeBase64 } from '../modules/code/base64.ts'
import type { StreamChunk } from './chunks.ts'

/**
 * A chunk as one line of JSON. What JSON cannot hold does not stop the stream: bytes become
 * `{ "$bytes": base64 }`, a bigint its digits, and a field that cannot be written at all `null`.
 */
export function toChunkJson(chunk: StreamChunk): string {
  try {
    return JSON.stringify(chunk, jsonSafe)
  } catch {
    const fields = Object.entries(chunk).map(([name, value]) => [name, orNull(value)])
    return JSON.stringify(Object.fromEntries(fields), jsonSafe)
  }
}

function orNull(value: unknown): unknown {
  try {
    JSON.stringify(value, jsonSafe)
    return value
  } catch {
    return null
  }
}

/** Sees the value before its own `toJSON`: the bytes of Node have one that lists every byte. */
function jsonSafe(this: object, name: string, value: unknown): unknown {
  const given: unknown = Reflect.get(this, name)
  if (typeof given === 'bigint') return String(given)
  if (!ArrayBuffer.isView(given)) return value
  return { $bytes: encodeBase64(new Uint8Array(given.buffer, given.byteOffset, given.byteLength)) }
}
