import type { LanguageModelV4FunctionTool } from '@ai-sdk/provider'
import type { JsonSchema } from '@helix-agents/core'
import type { ToolSpec } from '@helix-agents/core/runtime'
import { toObjectSchema } from './object-schema.ts'

/** Makes the tools of a model call, once for each array of specs and for each spec in it. */
export class ToolMaker {
  readonly #lists = new WeakMap<readonly ToolSpec[], LanguageModelV4FunctionTool[]>()
  readonly #tools = new WeakMap<ToolSpec, LanguageModelV4FunctionTool>()
  #conversions = 0

  /** Tools converted so far. */
  get conversionCount(): number {
    return this.#conversions
  }

  make(specs: readonly ToolSpec[]): LanguageModelV4FunctionTool[] {
    const known = this.#lists.get(specs)
    if (known !== undefined) return known
    const made = specs.map((spec) => this.#toolOf(spec))
    // The array of a run is frozen; one that may still grow is made again.
    if (Object.isFrozen(specs)) this.#lists.set(specs, made)
    return made
  }

  #toolOf(spec: ToolSpec): LanguageModelV4FunctionTool {
    const known = this.#tools.get(spec)
    if (known !== undefined) return known
    this.#conversions += 1
    const made: LanguageModelV4FunctionTool = {
      type: 'function',
      name: spec.name,
      description: spec.description,
      inputSchema: toSchema7(toObjectSchema(spec.parameters)),
    }
    this.#tools.set(spec, made)
    return made
  }
}

type Schema7 = LanguageModelV4FunctionTool['inputSchema']

/** JSON Schema under the name that the AI SDK has for it. */
export function toSchema7(schema: JsonSchema): Schema7 {
  return schema
}
