import { flags } from '../tree/node.ts'
import { holdsZero } from './holds-zero.ts'

const encoder = new TextEncoder()

/** Text up to this many UTF-16 units is encoded into a buffer at hand. */
const SCRATCH_UNITS = 16_384
const scratch = new Uint8Array(SCRATCH_UNITS * 3)

/** Bytes on their way into a file. */
export interface NewData {
  /** Valid until the next text is encoded: not across an `await`. See {@link keepData}. */
  readonly bytes: Uint8Array
  /** `text` and `binary`, as the bytes have them. */
  readonly flags: number
}

/** What a caller gave, as bytes. Half a surrogate pair becomes U+FFFD. */
export function toNewData(data: Uint8Array | string): NewData {
  if (typeof data !== 'string') return { bytes: data, flags: holdsZero(data) ? flags.binary : 0 }
  const binary = data.includes('\0') ? flags.binary : 0
  return { bytes: encode(data), flags: flags.text | binary }
}

/** The same data in memory of its own, which does not change. */
export function keepData(data: NewData): NewData {
  return { bytes: new Uint8Array(data.bytes), flags: data.flags }
}

function encode(text: string): Uint8Array {
  if (text.length > SCRATCH_UNITS) return encoder.encode(text)
  return scratch.subarray(0, encoder.encodeInto(text, scratch).written)
}
