import type { LanguageModelV4 } from '@ai-sdk/provider'
import { ModelError } from '@helix-agents/core'
import {
  type Environment,
  modelByName,
  type ModelProviders,
  unknownProvider,
  type WantedModel,
  wantedModel,
} from './model-by-name.ts'

/**
 * The model that an environment names: `modelByName` with the packages `@ai-sdk/openai`,
 * `@ai-sdk/anthropic` and `@ai-sdk/openai-compatible`. The one that is needed is loaded; the
 * program installs it. For programs in Node: a bundled Worker hands its factories to `modelByName`.
 *
 * @returns `undefined` when no model is named.
 * @throws {ModelError} `unauthorized` when the key is missing; `invalid-request` when the provider
 * or the name is none, or the package is not installed.
 */
export async function modelFromEnvironment(
  environment: Environment,
): Promise<LanguageModelV4 | undefined> {
  const wanted = wantedModel(environment)
  if (wanted === undefined) return undefined
  const hasGateway = (environment.AI_GATEWAY_API_KEY ?? '') !== ''
  if ('provider' in wanted && !loaders.has(wanted.provider) && !hasGateway) {
    throw unknownProvider(wanted.provider, ['openai', 'anthropic'])
  }
  return modelByName(environment, await loadProviders(wanted))
}

async function loadProviders(wanted: WantedModel): Promise<ModelProviders> {
  const name = 'baseURL' in wanted ? 'openai-compatible' : wanted.provider
  try {
    return (await loaders.get(name)?.()) ?? {}
  } catch (cause) {
    const problem = `the model needs the package @ai-sdk/${name}, which cannot be loaded`
    const hint = `Run npm install @ai-sdk/${name}.`
    throw new ModelError('invalid-request', { problem, hint, cause })
  }
}

type Loader = () => Promise<ModelProviders>

const loaders: ReadonlyMap<string, Loader> = new Map<string, Loader>([
  [
    'openai',
    async () => {
      const { createOpenAI } = await import('@ai-sdk/openai')
      return { providers: { openai: createOpenAI } }
    },
  ],
  [
    'anthropic',
    async () => {
      const { createAnthropic } = await import('@ai-sdk/anthropic')
      return { providers: { anthropic: createAnthropic } }
    },
  ],
  [
    'openai-compatible',
    async () => {
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
      return { compatible: createOpenAICompatible }
    },
  ],
])
