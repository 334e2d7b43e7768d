import type { LLMConfig, TokenUsage } from '../llm/llm-adapter.ts'
import type { CostOf } from './budget.ts'

/** Prices of a million tokens each, in any currency. */
export interface ModelPrice {
  readonly input: number
  readonly output: number
  /** Input that the provider had in its prompt cache. Default: as other input. */
  readonly cachedInput?: number
  /** Input that the provider wrote into its prompt cache. Default: as other input. */
  readonly cacheWrite?: number
}

const MILLION = 1_000_000

/**
 * Makes `costOf` from prices by the id of a model; `'*'` is the price of all others. Without a
 * price the cost is `NaN`, which `defineAgent` rejects.
 */
export function costByPrices(prices: Readonly<Record<string, ModelPrice>>): CostOf {
  return (usage, config) => {
    const price = priceOf(prices, modelIdOf(config))
    return price === undefined ? Number.NaN : cost(price, usage)
  }
}

function cost(price: ModelPrice, usage: TokenUsage): number {
  const { inputTokens = 0, outputTokens = 0, cachedInputTokens = 0, cacheWriteTokens = 0 } = usage
  const { input, output, cachedInput = input, cacheWrite = input } = price
  const fresh = Math.max(0, inputTokens - cachedInputTokens - cacheWriteTokens)
  const paid = fresh * input + cachedInputTokens * cachedInput + cacheWriteTokens * cacheWrite
  return (paid + outputTokens * output) / MILLION
}

function priceOf(prices: Readonly<Record<string, ModelPrice>>, id: string): ModelPrice | undefined {
  return Object.hasOwn(prices, id) ? prices[id] : prices['*']
}

/** A name, or the `modelId` of a model of the AI SDK. */
function modelIdOf({ model }: LLMConfig): string {
  if (typeof model === 'string') return model
  const id: unknown =
    typeof model === 'object' && model !== null ? Reflect.get(model, 'modelId') : ''
  return typeof id === 'string' ? id : ''
}
