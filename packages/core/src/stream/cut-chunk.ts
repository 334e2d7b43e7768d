/** A piece of each field of a chunk fits, also when JSON writes six bytes for each character. */
const PIECES = 128
/** Fields that are objects of texts and flags. */
const WITH_TEXTS: ReadonlySet<string> = new Set(['error', 'preview'])

/**
 * The JSON of a chunk, made to fit: its biggest fields are cut, as few as possible, and named in
 * `truncated`.
 */
export function cutChunk(json: string, maxBytes: number): string {
  const fields = new Map<string, unknown>(Object.entries(JSON.parse(json)))
  const truncated = namesIn(fields.get('truncated'))
  fields.delete('truncated')
  const bySize = [...fields].map(([name, value]) => ({ name, bytes: bytesOf(value) }))
  bySize.sort((a, b) => b.bytes - a.bytes)
  fields.set('truncated', truncated)
  for (const { name } of bySize) {
    if (bytesOf(Object.fromEntries(fields)) <= maxBytes) break
    truncated.push(name)
    fields.set(name, cutField(name, fields.get(name), Math.floor(maxBytes / PIECES)))
  }
  return JSON.stringify(Object.fromEntries(fields))
}

/** A chunk that was cut before stays marked. */
function namesIn(truncated: unknown): string[] {
  return Array.isArray(truncated) ? truncated.map(String) : []
}

function bytesOf(value: unknown): number {
  return new TextEncoder().encode(JSON.stringify(value)).length
}

/** A field keeps its type; one that may be anything becomes a string. */
function cutField(name: string, value: unknown, maxLength: number): unknown {
  if (name === 'patches') return []
  if (WITH_TEXTS.has(name) && typeof value === 'object' && value !== null) {
    const entries = Object.entries(value)
    return Object.fromEntries(entries.map(([key, field]) => [key, cutText(field, maxLength / 2)]))
  }
  return beginning(value, maxLength)
}

function cutText(value: unknown, maxLength: number): unknown {
  return typeof value === 'string' ? beginning(value, maxLength) : value
}

function beginning(value: unknown, maxLength: number): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  // No half of a character at the end.
  return text.slice(0, maxLength).replace(/[\uD800-\uDBFF]$/, '')
}
