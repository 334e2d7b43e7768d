import { createRedaction, redactText } from '@helix-agents/telemetry/redact'
import * as z from 'zod'
import { toPlainText } from '../output/plain-text.ts'

/** The error of an answer from 400 on, fit for a terminal: each text is one line. */
export interface ServerFailure {
  readonly code: string
  readonly message: string
  /** JSON without secrets. */
  readonly details?: string
}

const MAX_CODE = 100
/** Longest message, and longest details, in characters. */
const MAX_TEXT = 2000

const failureSchema = z.object({
  error: z.object({ code: z.string(), message: z.string(), details: z.unknown().optional() }),
})

const redaction = createRedaction()

/** Reads `{ error: { code, message, details? } }`; undefined for any other answer. */
export function parseServerFailure(text: string): ServerFailure | undefined {
  const failure = failureSchema.safeParse(parseJson(text))
  if (!failure.success) return undefined
  const { code, message, details } = failure.data.error
  return {
    code: toLine(code, MAX_CODE),
    message: toLine(redactText(message), MAX_TEXT),
    ...(details !== undefined && {
      details: toLine(JSON.stringify(redaction.value(details)), MAX_TEXT),
    }),
  }
}

/** What does not fit a schema, in a few lines: an answer may be wrong in very many places. */
export function explainIssues(error: z.ZodError): string {
  const { issues } = error
  const shown = z.prettifyError(new z.ZodError(issues.slice(0, 5)))
  const more = issues.length > 5 ? `\n… and ${issues.length - 5} more` : ''
  return shortened(shown, MAX_TEXT) + more
}

/** Undefined for what is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function toLine(text: string, most: number): string {
  return toPlainText(shortened(text, most))
}

function shortened(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most)}…`
}
