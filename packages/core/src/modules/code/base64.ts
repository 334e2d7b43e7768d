/** So many bytes are turned at once: an argument list has a limit. */
const CHUNK_BYTES = 8190

/** Newer engines, that of Workers among them, do it themselves, a hundred times as fast. */
interface NativeBase64 {
  toBase64?(): string
}

/** Base64 of bytes, on every platform. */
export function encodeBase64(bytes: Uint8Array & NativeBase64): string {
  if (bytes.toBase64 !== undefined) return bytes.toBase64()
  let encoded = ''
  // Whole chunks are multiples of three bytes, so that the pieces join.
  for (let start = 0; start < bytes.length; start += CHUNK_BYTES) {
    encoded += btoa(String.fromCharCode(...bytes.subarray(start, start + CHUNK_BYTES)))
  }
  return encoded
}

interface NativeDecoder {
  fromBase64?(encoded: string): Uint8Array
}

/** The bytes of what {@link encodeBase64} wrote. @throws when it is no base64. */
export function decodeBase64(encoded: string): Uint8Array {
  const native: typeof Uint8Array & NativeDecoder = Uint8Array
  if (native.fromBase64 !== undefined) return native.fromBase64(encoded)
  const characters = atob(encoded)
  const bytes = new Uint8Array(characters.length)
  for (let i = 0; i < bytes.length; i++) bytes[i] = characters.charCodeAt(i)
  return bytes
}
