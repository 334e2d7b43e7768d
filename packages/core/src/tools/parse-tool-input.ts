import { ToolInputError } from '../errors/tool-input-error.ts'
import type { JsonSchema } from './json-schema.ts'
import { repairInput } from './repair-input.ts'
import type { Schema } from './schema.ts'
import { parseWithSchema } from './schema-parse.ts'

/**
 * Checks the arguments that a model gave. Those that do not fit get a second chance with the
 * plain slips of models put right; a model that has nothing to say may leave them out.
 *
 * @param parameters The same schema as the model reads it; only asked for when it is needed.
 * @throws {ToolInputError} `invalid-input`, with the failing fields in `issues`.
 */
export function parseToolInput<Output>(
  schema: Schema<Output>,
  input: unknown,
  parameters: () => JsonSchema,
): Output | Promise<Output> {
  const again = (error: unknown): Output | Promise<Output> => {
    if (!ToolInputError.isInstance(error)) throw error
    return parseWithSchema(schema, repairInput(input, parameters()))
  }
  try {
    const parsed = parseWithSchema(schema, input ?? {})
    return parsed instanceof Promise ? parsed.catch(again) : parsed
  } catch (error) {
    return again(error)
  }
}
