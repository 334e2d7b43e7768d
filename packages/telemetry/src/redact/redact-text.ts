export const REDACTED = '[redacted]'

/** Credentials as they stand in texts: headers, addresses with a password, keys of providers. */
const SECRETS: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  [/\b(bearer|basic)\s+[\w.~+/=-]{6,}/gi, `$1 ${REDACTED}`],
  [/(:\/\/[^\s/:@]*):[^\s/@]+@/g, `$1:${REDACTED}@`],
  [/\b(?:sk|pk|rk|gh[opsu]|xox[abps])[-_][\w-]{16,}/g, REDACTED],
]

/** Replaces what looks like a credential in a text. */
export function redactText(text: string): string {
  return SECRETS.reduce(
    (result, [pattern, replacement]) => result.replaceAll(pattern, replacement),
    text,
  )
}
