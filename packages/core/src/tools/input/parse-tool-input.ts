import { ToolInputError } from '../../errors/tool-input-error.ts'
import { contentLimits, hasFewValues } from '../../llm/content-limits.ts'
import type { JsonSchema } from '../json-schema.ts'
import { hintOfMisplaced } from './misplaced-fields.ts'
import { repairInput } from './repair-input.ts'
import type { Schema, SchemaResult } from '../schema.ts'
import { invalidInput } from '../schema-parse.ts'

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
  const result = schema['~standard'].validate(input ?? {})
  if (result instanceof Promise) {
    return result.then((late) =>
      late.issues ? repairAndParse(schema, input, parameters) : late.value,
    )
  }
  return result.issues ? repairAndParse(schema, input, parameters) : result.value
}

/** The second chance. */
function repairAndParse<Output>(
  schema: Schema<Output>,
  input: unknown,
  parameters: () => JsonSchema,
): Output | Promise<Output> {
  const repaired = repairInput(input, parameters())
  const accept = (result: SchemaResult<Output>): Output => {
    if (result.issues === undefined) return result.value
    throw invalidInput(result.issues, hintOfMisplaced(repaired, parameters()))
  }
  const result = schema['~standard'].validate(repaired)
  return result instanceof Promise ? result.then(accept) : accept(result)
}

function tooManyValues(): ToolInputError {
  const { maxArgumentFields, maxArgumentValues } = contentLimits
  const detail = `The arguments have more than ${maxArgumentFields} fields in one object or ${maxArgumentValues} values in all.`
  return new ToolInputError('invalid-input', detail, {
    hint: 'Nothing was done. Give only the fields that the tool takes, or make several calls.',
  })
}
