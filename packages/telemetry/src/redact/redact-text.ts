export const REDACTED = '[redacted]'

/** Credentials as they stand in texts: headers, addresses with a password, keys of providers. */
const SECRETS: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  [/\b(bearer|basic)\s+[\w.~+/=-]{6,}/gi, `$1 ${REDACTED}`],
  [/(:\/\/[^\s/:@]*):[^\s/@]+@/g, `$1:${REDACTED}@`],
  [/([?&](?:[\w-]*token|[\w-]*key|sig|signature|secret|password)=)[^&\s"'#]+/gi, `$1${REDACTED}`],
  [/\b(?:sk|pk|rk|gh[opsu]|github_pat|glpat|xox[abps])[-_][\w-]{16,}/g, REDACTED],
  [/\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g, REDACTED],
  [/\bAIza[\w-]{30,}/g, REDACTED],
  [/\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]+/g, REDACTED],
]

/** Replaces what looks like a credential in a text. */
export function redactText(text: string): string {
  return SECRETS.reduce(
    (result, [pattern, replacement]) => result.replaceAll(pattern, replacement),
    text,
  )
}
