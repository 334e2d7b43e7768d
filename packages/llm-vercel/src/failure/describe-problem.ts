import type { ModelErrorCode } from '@helix-agents/core'
import type { FailureFacts } from './failure-facts.ts'

/** The model that was asked. */
export interface AskedModel {
  /** As the AI SDK names it, such as `openai.responses`. */
  readonly provider: string
  readonly modelId: string
}

/** What an operator reads of a failure, and what to do about it. */
export interface Problem {
  readonly problem?: string
  readonly hint?: string
}

const UNKNOWN_MODEL =
  /no such model|unknown model|model\S* (?:\S+ )?(?:is )?(?:not found|does not exist|not supported)|model_not_found/
const NEVER_CONNECTED = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ConnectionRefused|FailedToOpenSocket)$/
const MAX_NAME = 80

/**
 * Names provider, model and address where the failure is one that a setting causes: a refused key,
 * an unknown model, an address that nothing listens on.
 */
export function describeProblem(
  code: ModelErrorCode,
  facts: FailureFacts,
  asked: AskedModel | undefined,
): Problem {
  if (asked === undefined) return {}
  const { provider, modelId } = shown(asked)
  const { origin, networkCodes, status } = facts
  if (code === 'unauthorized') return refusedKey(shown(asked), facts)
  if (code === 'connection-lost' && networkCodes.some((one) => NEVER_CONNECTED.test(one))) {
    const variable = provider === 'compatible' ? 'MODEL_BASE_URL' : 'the base URL of the provider'
    return {
      problem: `no server answers at ${origin ?? 'its address'} for the model ${modelId} of ${provider}`,
      hint: `Start the server, or correct ${variable}.`,
    }
  }
  if (code !== 'invalid-request') return {}
  if (isUnknownModel(facts)) {
    return {
      problem: `${provider} has no model ${modelId}`,
      hint: 'Correct the name of the model.',
    }
  }
  return status === 404 ? unknownAddress(modelId, origin) : {}
}

function unknownAddress(modelId: string, origin = 'the server'): Problem {
  return {
    problem: `${origin} knows no such address, or has no model ${modelId}`,
    hint: 'Correct the name of the model, or the base URL of the provider.',
  }
}

/** Whose variables are not called as they are. */
const KEY_PREFIXES: ReadonlyMap<string, string> = new Map([
  ['compatible', 'MODEL'],
  ['gateway', 'AI_GATEWAY'],
])

function refusedKey({ provider, modelId }: AskedModel, { origin }: FailureFacts): Problem {
  const at = origin === undefined ? '' : ` at ${origin}`
  const prefix = KEY_PREFIXES.get(provider) ?? provider.toUpperCase().replaceAll('-', '_')
  return {
    problem: `${provider} refused the key for the model ${modelId}${at}`,
    hint: `Check the key (${prefix}_API_KEY, where the environment has it) and what it may use.`,
  }
}

function isUnknownModel({ codes, name, status, text }: FailureFacts): boolean {
  if (name.includes('NoSuchModel') || codes.includes('model_not_found')) return true
  return (status === 400 || status === 404) && UNKNOWN_MODEL.test(text)
}

/** `openai.responses` is `openai`. A name comes from a setting: it is cut, and has no line breaks. */
function shown({ provider, modelId }: AskedModel): AskedModel {
  const name = provider.split('.')[0] ?? provider
  return { provider: plain(name), modelId: JSON.stringify(plain(modelId)) }
}

function plain(text: string): string {
  return text.slice(0, MAX_NAME).replaceAll(/[^\x20-\x7e]/g, '?')
}
