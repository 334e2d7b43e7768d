// just-bash keeps bytes in strings, one character for each.

const CHUNK = 8192

export function latin1Of(bytes: Uint8Array): string {
  if (typeof Buffer !== 'undefined') {
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
  }
  const parts: string[] = []
  for (let at = 0; at < bytes.length; at += CHUNK) {
    parts.push(String.fromCharCode(...bytes.subarray(at, at + CHUNK)))
  }
  return parts.join('')
}

export function bytesOfLatin1(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length)
  for (let at = 0; at < text.length; at += 1) bytes[at] = text.charCodeAt(at)
  return bytes
}

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** The bytes that a script means by what it writes. */
export function encodeContent(content: string | Uint8Array, encoding: string): Uint8Array {
  if (typeof content !== 'string') return content
  if (encoding === 'binary' || encoding === 'latin1' || encoding === 'ascii') {
    return bytesOfLatin1(content)
  }
  if (encoding === 'base64') return bytesOfLatin1(atob(content))
  if (encoding === 'hex') {
    return Uint8Array.from(content.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
  }
  return encoder.encode(content)
}

export function decodeContent(bytes: Uint8Array, encoding: string): string {
  if (encoding === 'binary' || encoding === 'latin1' || encoding === 'ascii') return latin1Of(bytes)
  if (encoding === 'base64') return btoa(latin1Of(bytes))
  if (encoding === 'hex') {
    return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  }
  return decoder.decode(bytes)
}

/** UTF-8 of a text, one character for each byte. */
export function utf8Latin1(text: string): string {
  return latin1Of(encoder.encode(text))
}
