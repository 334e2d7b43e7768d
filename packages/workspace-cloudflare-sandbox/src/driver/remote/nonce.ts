const BYTES = 8

/** Hexadecimal digits, never the same twice. */
export function createNonce(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(BYTES))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
