import type { LanguageModelV4CallOptions } from '@ai-sdk/provider'
import type { JsonSchema, Schema } from '@helix-agents/core'
import { toJsonSchema } from '@helix-agents/core/runtime'
import { toSchema7 } from './tool-maker.ts'

type ResponseFormat = NonNullable<LanguageModelV4CallOptions['responseFormat']>

const written = new WeakMap<object, ResponseFormat>()

/** The form in which the model is to answer; a schema is written as JSON Schema once. */
export function toResponseFormat(schema: Schema | JsonSchema): ResponseFormat {
  const known = written.get(schema)
  if (known !== undefined) return known
  const made: ResponseFormat = {
    type: 'json',
    name: 'output',
    schema: toSchema7(toJsonSchema(schema)),
  }
  written.set(schema, made)
  return made
}
