/** Bytes of one UTF-8 character at most. */
const MAX_CHARACTER_BYTES = 4

/** How many of the first bytes are whole characters: an incomplete one at the end is not counted. */
export function wholeCharactersLength(bytes: Uint8Array): number {
  const first = Math.max(0, bytes.length - MAX_CHARACTER_BYTES)
  for (let index = bytes.length - 1; index >= first; index--) {
    const byte = bytes[index] ?? 0
    if (isContinuation(byte)) continue
    return index + characterLength(byte) > bytes.length ? index : bytes.length
  }
  return bytes.length
}

/** Where the first whole character starts. */
export function firstCharacterStart(bytes: Uint8Array): number {
  let index = 0
  while (index < MAX_CHARACTER_BYTES - 1 && isContinuation(bytes[index] ?? 0)) index++
  return index
}

function isContinuation(byte: number): boolean {
  return byte >= 0x80 && byte < 0xc0
}

function characterLength(lead: number): number {
  if (lead < 0xc0) return 1
  if (lead < 0xe0) return 2
  return lead < 0xf0 ? 3 : 4
}
