import type { TextSearch } from '@helix-agents/core/provider'

/**
 * The bytes that every file with a match holds, or undefined when nothing is certain. U+FFFD also
 * stands for invalid bytes, and other spellings of a case are other bytes.
 */
export function createPrefilter(search: TextSearch): Uint8Array | undefined {
  const literal = search.requiredLiteral
  if (literal === undefined || literal.ignoreCase) return undefined
  const { text } = literal
  if (text.includes('\uFFFD') || text.includes('\0') || !text.isWellFormed()) return undefined
  return new TextEncoder().encode(text)
}
