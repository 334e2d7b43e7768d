import type { LanguageModelV4 } from '@ai-sdk/provider'
import { ModelError } from '@helix-agents/core'
import { createGateway } from 'ai'
import { fetchWithinOrigin } from './fetch-within-origin.ts'

/** Variables of a process, or the bindings of a Worker. */
export type Environment = Readonly<Record<string, unknown>>

/** Makes the models of a provider: `createOpenAI`, `createAnthropic` and their like. */
export type ProviderFactory = (settings: {
  readonly apiKey: string
  readonly baseURL?: string
  /** Follows no redirect to another origin, which would get the key and the conversation. */
  readonly fetch: typeof fetchWithinOrigin
}) => (modelId: string) => LanguageModelV4

/** Makes the models of a server that speaks like OpenAI: `createOpenAICompatible`. */
export type CompatibleFactory = (settings: {
  readonly name: string
  readonly baseURL: string
  readonly apiKey?: string
  readonly includeUsage: boolean
  readonly fetch: typeof fetchWithinOrigin
}) => (modelId: string) => LanguageModelV4

/** The providers that a model name may lead to. */
export interface ModelProviders {
  /** By the name in front of the slash. Their keys are in `<NAME>_API_KEY`. Default: none. */
  readonly providers?: Readonly<Record<string, ProviderFactory>>
  /** For `MODEL_BASE_URL`. Default: none. */
  readonly compatible?: CompatibleFactory
}

const COMPATIBLE = { name: 'compatible', includeUsage: true, fetch: fetchWithinOrigin } as const

/**
 * The model that an environment names, for programs whose user chooses it:
 *
 * - `MODEL=openai/gpt-…` with `OPENAI_API_KEY`, and so for each of `providers`.
 *   `OPENAI_BASE_URL` leads elsewhere.
 * - `MODEL=…` with `MODEL_BASE_URL`: a server that speaks OpenAI's chat completions, also on this
 *   machine. `MODEL_API_KEY` if it wants one.
 * - `MODEL=provider/name` of any other provider with `AI_GATEWAY_API_KEY`: the gateway of the AI
 *   SDK.
 *
 * @returns `undefined` when no model is named.
 * @throws {ModelError} `unauthorized` when the key is missing; `invalid-request` for a provider or
 * a name that is none.
 */
export function modelByName(
  environment: Environment,
  { providers = {}, compatible }: ModelProviders,
): LanguageModelV4 | undefined {
  const wanted = wantedModel(environment)
  if (wanted === undefined) return undefined
  if ('baseURL' in wanted) {
    if (compatible === undefined) throw invalid('MODEL_BASE_URL is not supported here')
    return compatible({ ...COMPATIBLE, ...wanted.settings })(wanted.id)
  }
  const { provider, id } = wanted
  const create = Object.hasOwn(providers, provider) ? providers[provider] : undefined
  if (create !== undefined) return create(settingsOf(environment, { provider, id }))(id)
  const apiKey = textOf(environment, 'AI_GATEWAY_API_KEY')
  if (apiKey !== undefined)
    return createGateway({ apiKey, fetch: fetchWithinOrigin })(`${provider}/${id}`)
  throw unknownProvider(provider, Object.keys(providers))
}

/** A provider that is not among those that a program has, when no gateway is set either. */
export function unknownProvider(provider: string, known: readonly string[]): ModelError {
  const names = known.length === 0 ? 'none is known here' : `known here: ${known.join(', ')}`
  return new ModelError('invalid-request', {
    problem: `MODEL names the provider ${shown(provider)}, which is not known (${names})`,
    hint: 'Correct MODEL, or set AI_GATEWAY_API_KEY to reach any provider through the gateway.',
  })
}

/** The variable is what a user typed: not a place for line breaks or whole keys. */
function shown(name: string): string {
  return JSON.stringify(name.slice(0, 80))
}

/** What an environment asks for. */
export type WantedModel =
  | { readonly provider: string; readonly id: string }
  | {
      readonly id: string
      readonly baseURL: string
      readonly settings: { readonly baseURL: string; readonly apiKey?: string }
    }

/** @throws {ModelError} `invalid-request` for a name that is none. */
export function wantedModel(environment: Environment): WantedModel | undefined {
  const name = textOf(environment, 'MODEL')
  const baseURL = textOf(environment, 'MODEL_BASE_URL')
  if (name === undefined) {
    if (baseURL === undefined) return undefined
    throw invalid('MODEL_BASE_URL is set, and MODEL is not')
  }
  if (baseURL !== undefined) {
    checkAddress('MODEL_BASE_URL', baseURL)
    const apiKey = textOf(environment, 'MODEL_API_KEY')
    const settings = { baseURL, ...(apiKey !== undefined && { apiKey }) }
    return { id: name, baseURL, settings }
  }
  const [provider = '', ...rest] = name.split('/')
  if (provider === '' || rest.join('') === '') {
    throw invalid(`MODEL must be provider/name, and it is ${shown(name)}`)
  }
  return { provider, id: rest.join('/') }
}

function settingsOf(environment: Environment, { provider, id }: { provider: string; id: string }) {
  const prefix = provider.toUpperCase().replaceAll('-', '_')
  const baseURL = textOf(environment, `${prefix}_BASE_URL`)
  if (baseURL !== undefined) checkAddress(`${prefix}_BASE_URL`, baseURL)
  const variable = `${prefix}_API_KEY`
  const apiKey = textOf(environment, variable)
  if (apiKey === undefined) {
    const problem = `${variable} is not set; the model ${shown(`${provider}/${id}`)} needs it`
    throw new ModelError('unauthorized', { problem })
  }
  const settings = { apiKey, fetch: fetchWithinOrigin }
  return { ...settings, ...(baseURL !== undefined && { baseURL }) }
}

/** The address itself may hold a key. */
function checkAddress(variable: string, address: string): void {
  const protocol = URL.parse(address)?.protocol
  if (protocol === 'http:' || protocol === 'https:') return
  throw invalid(`${variable} is no address that starts with http:// or https://`)
}

function textOf(environment: Environment, variable: string): string | undefined {
  const value = environment[variable]
  return typeof value === 'string' && value !== '' ? value : undefined
}

function invalid(problem: string): ModelError {
  return new ModelError('invalid-request', { problem })
}
