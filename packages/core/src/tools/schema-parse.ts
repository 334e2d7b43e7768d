import { ToolInputError, type ToolInputIssue } from '../errors/tool-input-error.ts'
import type { Schema, SchemaIssue, SchemaResult } from './schema.ts'

const MAX_ISSUES = 20
const MAX_MESSAGE_CHARACTERS = 300

/**
 * Checks a value against a schema. The result is a promise only when the schema validates
 * asynchronously: `await` serves both.
 * @throws {ToolInputError} `invalid-input`, with the failing fields in `issues`.
 */
export function parseWithSchema<Output>(
  schema: Schema<Output>,
  value: unknown,
): Output | Promise<Output> {
  const result = schema['~standard'].validate(value)
  return result instanceof Promise ? result.then(accept) : accept(result)
}

function accept<Output>(result: SchemaResult<Output>): Output {
  if (result.issues === undefined) return result.value
  throw invalidInput(result.issues)
}

/** The error of arguments that do not fit their schema. */
export function invalidInput(found: readonly SchemaIssue[], hint?: string): ToolInputError {
  const issues = found.slice(0, MAX_ISSUES).map(toInputIssue)
  return new ToolInputError('invalid-input', 'The arguments are not valid.', {
    issues,
    ...(hint !== undefined && { hint }),
  })
}

function toInputIssue(issue: SchemaIssue): ToolInputIssue {
  const path = (issue.path ?? []).map(keyOf).join('.')
  return { path, message: issue.message.slice(0, MAX_MESSAGE_CHARACTERS) }
}

function keyOf(segment: PropertyKey | { readonly key: PropertyKey }): string {
  return String(typeof segment === 'object' ? segment.key : segment)
}
