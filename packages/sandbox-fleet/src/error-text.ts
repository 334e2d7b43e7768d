import { HelixError } from '@helix-agents/core'
import { redactText } from '@helix-agents/telemetry/redact'

/** Causes behind an error that are kept. */
const MAX_CAUSES = 5
/** Characters of one cause, and of all together. */
const MAX_CAUSE = 300
const MAX_CHAIN = 1000

/** What an error says, for a report, without secrets. */
export function errorText(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error'
  return readable(() => redactText(error.message))
}

/**
 * The causes of an error, the nearest first, as one redacted text: names, codes and
 * messages of at most five causes, 1,000 characters in all. Undefined without a cause.
 */
export function causeText(error: unknown): string | undefined {
  const causes: string[] = []
  const seen = new Set<unknown>([error])
  let cause = causeOf(error)
  while (cause !== undefined && !seen.has(cause) && causes.length < MAX_CAUSES) {
    causes.push(describe(cause))
    seen.add(cause)
    cause = causeOf(cause)
  }
  if (causes.length === 0) return undefined
  const rest = cause === undefined ? '' : ' <- …'
  return shortened(causes.join(' <- ') + rest, MAX_CHAIN)
}

function causeOf(error: unknown): unknown {
  return error instanceof Error ? (error.cause ?? undefined) : undefined
}

function describe(cause: unknown): string {
  const text = readable(() => {
    if (!(cause instanceof Error)) return redactText(String(cause))
    const { message, name } = cause
    return `${name}${codeOf(cause)}: ${redactText(message)}`
  })
  return shortened(text, MAX_CAUSE)
}

/** Whatever code of others throws: its getters may throw as well. */
function readable(read: () => string): string {
  try {
    return read()
  } catch (error) {
    return `unreadable ${typeof error}`
  }
}

/** Of our errors and of those of the system, such as `ECONNREFUSED`. */
function codeOf(cause: Error): string {
  const code = HelixError.isInstance(cause) || 'code' in cause ? Reflect.get(cause, 'code') : ''
  return typeof code === 'string' && code !== '' ? ` ${code}` : ''
}

function shortened(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`
}
