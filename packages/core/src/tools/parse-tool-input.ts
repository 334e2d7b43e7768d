import { ToolInputError } from '../errors/tool-input-error.ts'
import { contentLimits, hasFewValues } from '../llm/content-limits.ts'
import type { JsonSchema } from './json-schema.ts'
import { hintOfMisplaced } from './misplaced-fields.ts'
import { repairInput } from './repair-input.ts'
import type { Schema } from './schema.ts'
import { parseWithSchema } from './schema-parse.ts'

/**
 * Checks the arguments that a model gave. Those that do not fit get a second chance with the
 * plain slips of models put right; a model that has nothing to say may leave them out.
 *
 * @param parameters The same schema as the model reads it; only asked for when it is needed.
 * @throws {ToolInputError} `invalid-input`, when the arguments have too many fields or values (see
 * `contentLimits`); else with the failing fields in `issues`, and where fields belong that are in the wrong place in `hint`.
 */
export function parseToolInput<Output>(
  schema: Schema<Output>,
  input: unknown,
  parameters: () => JsonSchema,
): Output | Promise<Output> {
  if (!hasFewValues(input)) throw tooManyValues()
  return orElse(
    () => parseWithSchema(schema, input ?? {}),
    () => {
      const repaired = repairInput(input, parameters())
      return orElse(
        () => parseWithSchema(schema, repaired),
        (error) => {
          throw withHint(error, hintOfMisplaced(repaired, parameters()))
        },
      )
    },
  )
}

function tooManyValues(): ToolInputError {
  const { maxArgumentFields, maxArgumentValues } = contentLimits
  const detail = `The arguments have more than ${maxArgumentFields} fields in one object or ${maxArgumentValues} values in all.`
  return new ToolInputError('invalid-input', detail, {
    hint: 'Nothing was done. Give only the fields that the tool takes, or make several calls.',
  })
}

/** Does something else with arguments that do not fit, whether that shows at once or later. */
function orElse<Output>(
  parse: () => Output | Promise<Output>,
  refused: (error: ToolInputError) => Output | Promise<Output>,
): Output | Promise<Output> {
  const again = (error: unknown): Output | Promise<Output> => {
    if (!ToolInputError.isInstance(error)) throw error
    return refused(error)
  }
  try {
    const parsed = parse()
    return parsed instanceof Promise ? parsed.catch(again) : parsed
  } catch (error) {
    return again(error)
  }
}

function withHint(error: ToolInputError, hint: string | undefined): ToolInputError {
  if (hint === undefined) return error
  const { code, message, issues, cause } = error
  return new ToolInputError(code, message, { issues, hint, ...(cause !== undefined && { cause }) })
}
