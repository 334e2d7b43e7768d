import type { Content } from '../nodes.ts'

/** The most common characters of source text, most common first. */
const COMMON = ' etaonirsclpdumf\n.\'/"-,()*gh:=vbyw;{}_Tk'

/**
 * Whether a content holds a text, without decoding: bytes are searched for the
 * rarest byte of the text, which the engine does many at a time.
 */
export function createContentFilter(text: string): (content: Content) => boolean {
  const wanted = new TextEncoder().encode(text)
  const rarest = rarestIndex(wanted)
  return (content) =>
    typeof content === 'string' ? content.includes(text) : holds(content, wanted, rarest)
}

function holds(bytes: Uint8Array, wanted: Uint8Array, rarest: number): boolean {
  const byte = wanted[rarest]
  if (byte === undefined) return true
  for (let at = bytes.indexOf(byte, rarest); at >= 0; at = bytes.indexOf(byte, at + 1)) {
    if (startsWith(bytes, at - rarest, wanted)) return true
  }
  return false
}

function startsWith(bytes: Uint8Array, start: number, wanted: Uint8Array): boolean {
  for (let i = 0; i < wanted.length; i += 1) if (bytes[start + i] !== wanted[i]) return false
  return true
}

function rarestIndex(wanted: Uint8Array): number {
  let best = 0
  let bestRank = -1
  for (const [index, byte] of wanted.entries()) {
    const rank = COMMON.indexOf(String.fromCharCode(byte))
    if (rank < 0) return index
    if (rank > bestRank) [best, bestRank] = [index, rank]
  }
  return best
}
