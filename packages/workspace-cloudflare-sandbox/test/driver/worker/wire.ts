// JSON that carries bytes, or how to make them where they are needed.

/** Bytes that no two places have alike, made where the message is read. */
export function madeBytes(size: number): { readonly $made: number } {
  return { $made: size }
}

/** What `madeBytes` stands for. */
export function makeBytes(size: number): Uint8Array {
  const bytes = new Uint8Array(size)
  for (let at = 0; at < size; at += 1) bytes[at] = (at * 31 + (at >> 8)) % 256
  return bytes
}

export function encode(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) => {
    if (!(item instanceof Uint8Array)) return item === Infinity ? { $infinity: true } : item
    return { $bytes: toBase64(item) }
  })
}

export function decode(text: string): unknown {
  return JSON.parse(text, (_key, item: unknown) => {
    if (typeof item !== 'object' || item === null) return item
    if ('$infinity' in item) return Infinity
    if ('$made' in item && typeof item.$made === 'number') return makeBytes(item.$made)
    if (!('$bytes' in item) || typeof item.$bytes !== 'string') return item
    return Uint8Array.from(atob(item.$bytes), (character) => character.charCodeAt(0))
  })
}

function toBase64(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += 8190) {
    text += btoa(String.fromCharCode(...bytes.subarray(at, at + 8190)))
  }
  return text
}
