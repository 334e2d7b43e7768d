import type { FileSystem } from '../contract.ts'

const encoder = new TextEncoder()

/** The bytes of a file's new content; text becomes UTF-8. Bytes are passed through, not copied. */
export function toBytes(data: Uint8Array | string): Uint8Array {
  return typeof data === 'string' ? encoder.encode(data) : data
}

/** Text of UTF-8 bytes. Keeps a byte order mark; invalid sequences become U+FFFD. */
export function decodeText(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
}

/** Length of a text in UTF-8 bytes, without encoding it. */
export function utf8Length(text: string): number {
  const platform: unknown = Reflect.get(globalThis, 'Buffer')
  return canMeasure(platform) ? platform.byteLength(text) : countUtf8(text)
}

/** The same without any help of the platform. */
export function countUtf8(text: string): number {
  let bytes = text.length
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i)
    if (unit < 0x80) continue
    // A pair is 4 bytes for 2 units; any other unit, also half a pair, is 2 or 3 bytes.
    if (unit < 0x800) bytes += 1
    else if (isPair(text, i, unit)) {
      bytes += 2
      i += 1
    } else bytes += 2
  }
  return bytes
}

/** True for content that is not text: it holds a NUL byte. */
export function isBinary(bytes: Uint8Array): boolean {
  return bytes.includes(0)
}

/**
 * The file as text, by the cheapest way the file system has. Keeps a byte order mark.
 * @throws {FileSystemError} `not-found`, `is-directory`.
 */
export async function readText(fs: FileSystem, path: string): Promise<string> {
  return fs.readText === undefined ? decodeText(await fs.readFile(path)) : fs.readText(path)
}

function isPair(text: string, index: number, unit: number): boolean {
  if (unit < 0xd800 || unit > 0xdbff) return false
  const next = text.charCodeAt(index + 1)
  return next >= 0xdc00 && next <= 0xdfff
}

interface ByteMeasure {
  byteLength(text: string): number
}

/** Node measures a text much faster than a loop can. */
function canMeasure(value: unknown): value is ByteMeasure {
  return typeof value === 'function' && 'byteLength' in value
}
