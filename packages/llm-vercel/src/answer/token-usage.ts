import type { LanguageModelV4Usage } from '@ai-sdk/provider'
import type { TokenUsage } from '@helix-agents/core'

/** The tokens of a call as the port counts them; `undefined` when the provider counted none. */
export function toTokenUsage(usage: LanguageModelV4Usage): TokenUsage | undefined {
  const { total: inputTokens, cacheRead, cacheWrite } = usage.inputTokens
  const { total: outputTokens, reasoning } = usage.outputTokens
  const totalTokens = sum(inputTokens, outputTokens)
  if (totalTokens === undefined) return undefined
  return {
    ...(inputTokens !== undefined && { inputTokens }),
    ...(outputTokens !== undefined && { outputTokens }),
    totalTokens,
    ...(cacheRead !== undefined && { cachedInputTokens: cacheRead }),
    ...(cacheWrite !== undefined && { cacheWriteTokens: cacheWrite }),
    ...(reasoning !== undefined && { reasoningTokens: reasoning }),
  }
}

const FIELDS = [
  'inputTokens',
  'outputTokens',
  'totalTokens',
  'cachedInputTokens',
  'cacheWriteTokens',
  'reasoningTokens',
] as const

/** The tokens of two attempts: those of a failed one are paid for as well. */
export function addUsage(
  one: TokenUsage | undefined,
  other: TokenUsage | undefined,
): TokenUsage | undefined {
  if (one === undefined || other === undefined) return one ?? other
  const sums = FIELDS.map((field) => [field, sum(one[field], other[field])] as const)
  return Object.fromEntries(sums.filter(([, tokens]) => tokens !== undefined))
}

function sum(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined ? other : one + (other ?? 0)
}
