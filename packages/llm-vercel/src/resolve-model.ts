import type { LanguageModelV4 } from '@ai-sdk/provider'
import { ModelError } from '@helix-agents/core'
// Not loaded when it is needed: with `import('ai')` a bundled Worker initialises zod too late.
import { gateway, wrapLanguageModel } from 'ai'

type OlderModel = Parameters<typeof wrapLanguageModel>[0]['model']

/**
 * The model of an `LLMConfig`: one of the current interface as it is, an older one behind the
 * bridge of the AI SDK, and a name (`openai/gpt-…`) from its default provider.
 * @throws {ModelError} `invalid-request` for what is no model.
 */
export function resolveModel(model: unknown): LanguageModelV4 {
  if (isCurrent(model)) return model
  if (typeof model === 'string') return resolveName(model)
  if (isOlder(model)) return bridge(model)
  throw new ModelError('invalid-request', {
    detail: 'llmConfig.model is neither a model of the AI SDK nor the name of one',
  })
}

function resolveName(name: string): LanguageModelV4 {
  const provider = globalThis.AI_SDK_DEFAULT_PROVIDER ?? gateway
  const model: unknown = provider.languageModel(name)
  if (isCurrent(model)) return model
  if (isOlder(model)) return bridge(model)
  throw new ModelError('invalid-request', { detail: 'the default provider has no such model' })
}

const bridged = new WeakMap<object, LanguageModelV4>()

function bridge(model: OlderModel): LanguageModelV4 {
  const known = bridged.get(model)
  if (known !== undefined) return known
  const made = wrapLanguageModel({ model, middleware: [] })
  bridged.set(model, made)
  return made
}

function isCurrent(model: unknown): model is LanguageModelV4 {
  return versionOf(model) === 'v4'
}

function isOlder(model: unknown): model is OlderModel {
  const version = versionOf(model)
  return version === 'v3' || version === 'v2'
}

function versionOf(model: unknown): unknown {
  const isObject = typeof model === 'object' || typeof model === 'function'
  if (!isObject || model === null || !('doStream' in model)) return undefined
  return Reflect.get(model, 'specificationVersion')
}
