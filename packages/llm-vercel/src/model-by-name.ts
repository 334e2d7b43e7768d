import type { LanguageModelV4 } from '@ai-sdk/provider'
import { ModelError } from '@helix-agents/core'
import { createGateway } from 'ai'

/** Variables of a process, or the bindings of a Worker. */
export type Environment = Readonly<Record<string, unknown>>

/** Makes the models of a provider: `createOpenAI`, `createAnthropic` and their like. */
export type ProviderFactory = (settings: {
  readonly apiKey: string
  readonly baseURL?: string
}) => (modelId: string) => LanguageModelV4

/** Makes the models of a server that speaks like OpenAI: `createOpenAICompatible`. */
export type CompatibleFactory = (settings: {
  readonly name: string
  readonly baseURL: string
  readonly apiKey?: string
  readonly includeUsage: boolean
}) => (modelId: string) => LanguageModelV4

export interface ModelProviders {
  /** By the name in front of the slash. Keys are in `<NAME>_API_KEY`. */
  readonly providers?: Readonly<Record<string, ProviderFactory>>
  /** For `MODEL_BASE_URL`. */
  readonly compatible?: CompatibleFactory
}

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
 * @throws {ModelError} `unauthorized` when the key is missing; `invalid-request` for a name that is
 * none.
 */
export function modelByName(
  environment: Environment,
  { providers = {}, compatible }: ModelProviders,
): LanguageModelV4 | undefined {
  const wanted = wantedModel(environment)
  if (wanted === undefined) return undefined
  if ('baseURL' in wanted) {
    if (compatible === undefined) throw invalid('MODEL_BASE_URL is not supported here')
    return compatible({ name: 'compatible', includeUsage: true, ...wanted.settings })(wanted.id)
  }
  const { provider, id } = wanted
  const create = Object.hasOwn(providers, provider) ? providers[provider] : undefined
  if (create !== undefined) return create(settingsOf(environment, provider))(id)
  const apiKey = textOf(environment, 'AI_GATEWAY_API_KEY')
  if (apiKey !== undefined) return createGateway({ apiKey })(`${provider}/${id}`)
  const detail = `there is no provider ${shown(provider)} here, and AI_GATEWAY_API_KEY is not set`
  throw new ModelError('unauthorized', { detail })
}

/** The variable is what a user typed: not a place for line breaks or whole keys. */
function shown(provider: string): string {
  return JSON.stringify(provider.slice(0, 30))
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
    const settings = { baseURL, ...(apiKey === undefined ? {} : { apiKey }) }
    return { id: name, baseURL, settings }
  }
  const [provider = '', ...rest] = name.split('/')
  if (provider === '' || rest.join('') === '') throw invalid('MODEL must be provider/name')
  return { provider, id: rest.join('/') }
}

function settingsOf(environment: Environment, provider: string) {
  const prefix = provider.toUpperCase().replaceAll('-', '_')
  const baseURL = textOf(environment, `${prefix}_BASE_URL`)
  if (baseURL !== undefined) checkAddress(`${prefix}_BASE_URL`, baseURL)
  const apiKey = keyOf(environment, `${prefix}_API_KEY`)
  return { apiKey, ...(baseURL === undefined ? {} : { baseURL }) }
}

function keyOf(environment: Environment, variable: string): string {
  const key = textOf(environment, variable)
  if (key === undefined) throw new ModelError('unauthorized', { detail: `${variable} is not set` })
  return key
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

function invalid(detail: string): ModelError {
  return new ModelError('invalid-request', { detail })
}
