import * as z from 'zod'
import { AgentDefinitionError } from '../errors/agent-definition-error.ts'
import { isRecord, type JsonSchema } from './json-schema.ts'
import type { Schema } from './schema.ts'

/** The dialect that every model provider reads. */
const DIALECT = 'draft-07'

/** Schemas of zod 3 validate, and do not describe themselves. */
const ZOD_4 = 'zod 4, which zod 3.25 has as `zod/v4`'

/** The optional part of Standard Schema by which a library writes its own JSON Schema. */
interface StandardJsonSchema {
  readonly input: (options: { readonly target: string }) => unknown
}

/** Whether a description of arguments is a schema that can validate, or plain JSON Schema. */
export function isSchema(source: unknown): source is Schema {
  const isObject = (typeof source === 'object' && source !== null) || typeof source === 'function'
  return isObject && '~standard' in source
}

/**
 * Describes what a schema accepts, for the model. Not cheap: keep the result.
 * @throws {AgentDefinitionError} when the schema has no form as JSON Schema.
 */
export function toJsonSchema(source: Schema | JsonSchema): JsonSchema {
  if (!isSchema(source)) return source
  const { vendor } = source['~standard']
  const writer = jsonSchemaWriterOf(source)
  if (writer === undefined) {
    throw new AgentDefinitionError(`a schema of ${vendor}`, [
      `it cannot be written as JSON Schema: use ${vendor === 'zod' ? ZOD_4 : 'zod'}, another library with Standard JSON Schema, or plain JSON Schema`,
    ])
  }
  return withoutDialect(write(vendor, writer))
}

/**
 * Makes plain JSON Schema validate.
 * @throws {AgentDefinitionError} for JSON Schema that is not valid or not supported.
 */
export function schemaFromJsonSchema(source: JsonSchema): Schema {
  try {
    return z.fromJSONSchema({ ...source })
  } catch (cause) {
    throw new AgentDefinitionError('a JSON Schema', [messageOf(cause)], { cause })
  }
}

/** A schema that validates, whichever way the arguments were described. */
export function toSchema(source: Schema | JsonSchema): Schema {
  return isSchema(source) ? source : schemaFromJsonSchema(source)
}

function write(vendor: string, writer: StandardJsonSchema): JsonSchema {
  try {
    const written = writer.input({ target: DIALECT })
    if (isRecord(written)) return written
  } catch (cause) {
    throw new AgentDefinitionError(`a schema of ${vendor}`, [messageOf(cause)], { cause })
  }
  throw new AgentDefinitionError(`a schema of ${vendor}`, ['its JSON Schema is not an object'])
}

function jsonSchemaWriterOf(schema: Schema): StandardJsonSchema | undefined {
  const standard: object = schema['~standard']
  if ('jsonSchema' in standard && isWriter(standard.jsonSchema)) return standard.jsonSchema
  // zod before 4.2 has no writer of its own.
  if (!isZodSchema(schema)) return undefined
  return { input: () => z.toJSONSchema(schema, { io: 'input', target: 'draft-7' }) }
}

function isWriter(value: unknown): value is StandardJsonSchema {
  return isRecord(value) && typeof value['input'] === 'function'
}

function isZodSchema(schema: unknown): schema is z.ZodType {
  return isRecord(schema) && '_zod' in schema
}

/** Providers disagree on the dialect line, and none needs it. */
function withoutDialect(schema: JsonSchema): JsonSchema {
  const { $schema: _dialect, ...rest } = schema
  return rest
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
