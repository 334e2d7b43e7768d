import type { LanguageModelV4 } from '@ai-sdk/provider'

/** What the form of a prompt depends on. */
export interface ModelFamily {
  /** First part of the provider's name: what its metadata is for. */
  readonly provider: string
  /**
   * Whether a tool result may hold images and files. Where it may not, as in OpenAI's chat
   * completions, they follow in a user message.
   */
  readonly takesFilesInResults: boolean
  readonly isClaude: boolean
  /** Whether the prompt cache needs markers of what to keep. */
  readonly wantsCacheHints: boolean
}

const FILES_IN_RESULTS = /anthropic|bedrock|google|vertex|responses|gateway|mock/
const CACHE_HINTS = /anthropic|bedrock|gateway/

const families = new Map<string, ModelFamily>()

/** Known by name: one object for each provider and kind of model. */
export function familyOf({ provider, modelId }: LanguageModelV4): ModelFamily {
  const isClaude = modelId.includes('claude') || provider.startsWith('anthropic')
  const key = `${provider} ${isClaude}`
  const known = families.get(key)
  if (known !== undefined) return known
  const made: ModelFamily = {
    provider: provider.split('.')[0] ?? provider,
    takesFilesInResults: FILES_IN_RESULTS.test(provider),
    isClaude,
    wantsCacheHints: isClaude || CACHE_HINTS.test(provider),
  }
  families.set(key, made)
  return made
}
