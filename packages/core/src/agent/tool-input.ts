import { HelixError } from '../errors/helix-error.ts'
import { ToolFailedError } from '../errors/tool-failed-error.ts'
import type { JsonSchema } from '../tools/json-schema.ts'
import type { Schema } from '../tools/schema.ts'
import { parseToolInput } from '../tools/input/parse-tool-input.ts'
import { parseWithSchema } from '../tools/schema-parse.ts'
import { toJsonSchema, toSchema } from '../tools/to-json-schema.ts'
import type { Tool } from '../tools/tool.ts'

/**
 * Both sides of the arguments of a tool: their description for the model, and their check.
 * @throws {AgentDefinitionError} `definition-invalid` when the schema cannot be used.
 */
export function defineInput(source: Schema | JsonSchema): Pick<Tool, 'parameters' | 'parse'> {
  const schema = toSchema(source)
  const parameters = toJsonSchema(source)
  return { parameters, parse: (input) => parseToolInput(schema, input, () => parameters) }
}

/**
 * Checks what a tool returned.
 * @throws {ToolFailedError} `tool-failed`: the tool is at fault, not the model.
 */
export async function checkOutput<Output>(
  name: string,
  schema: Schema<Output>,
  output: unknown,
): Promise<Output> {
  try {
    return await parseWithSchema(schema, output)
  } catch (cause) {
    if (!HelixError.isInstance(cause)) throw cause
    const message = `the result of ${name} does not match its outputSchema`
    throw new ToolFailedError('tool-failed', message, { cause })
  }
}
