import { hideNamedValues } from './named-values.ts'
import { CONTEXT_SHAPES, TOKEN_SHAPES } from './secret-shapes.ts'
import { hideUrlPasswords } from './url-passwords.ts'

/** Longer texts are cut: a line of the log is no place for a file or a conversation. */
const MAX_TEXT = 32_768
/** Longest end of a cut text that may be the beginning of a credential. */
const MAX_HALF = 4096

/**
 * Replaces what looks like a credential in a text: by its own look, such as `sk-…`, and by the name
 * in front of it, such as `password=…`. Of a text of more than 32,768 characters only the beginning
 * is kept, with a note of how many characters are left out: the work is bounded for any text.
 */
export function redactText(text: string): string {
  if (text.length <= MAX_TEXT) return redact(text)
  const kept = text.slice(0, endOfWhole(text))
  return `${redact(kept)}[${text.length - kept.length} more characters]`
}

function redact(text: string): string {
  const shown = hideNamedValues(hideUrlPasswords(replaceAll(text, CONTEXT_SHAPES)))
  return replaceAll(shown, TOKEN_SHAPES)
}

function replaceAll(
  text: string,
  shapes: readonly (readonly [pattern: RegExp, replacement: string])[],
): string {
  return shapes.reduce(
    (result, [pattern, replacement]) => result.replaceAll(pattern, replacement),
    text,
  )
}

/** Half a credential does not look like one: the cut is before the word that it would divide. */
function endOfWhole(text: string): number {
  let end = MAX_TEXT
  while (end > MAX_TEXT - MAX_HALF && !/\s/.test(text.charAt(end - 1))) end -= 1
  return end
}
