import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import type { LLMConfig } from '@helix-agents/core'
import { ManualClock } from '@helix-agents/core/testing'
import { VercelAIAdapter, type VercelAIAdapterOptions } from '@helix-agents/llm-vercel'
import type {
  ModelFeature,
  ModelSubject,
  PlannedTurn,
} from '@helix-agents/workspace-conformance/model'
import { anthropicMessages } from './anthropic-messages.ts'
import { openaiChat } from './openai-chat.ts'
import { openaiResponses } from './openai-responses.ts'
import { KEY, Wire, type WireFormat } from './wire.ts'

/** How a package of the AI SDK reaches a wire. */
interface Reach {
  readonly url: string
  readonly fetch?: typeof fetch
}

interface Provider {
  readonly format: () => WireFormat
  readonly offers: readonly ModelFeature[]
  model(reach: Reach): LLMConfig['model']
}

const ALWAYS = ['streaming', 'tool-input', 'media', 'failures', 'settings'] as const

/** The real provider packages, and the wire format that each speaks. */
export const providers = {
  'openai chat completions': {
    format: () => openaiChat,
    offers: [...ALWAYS, 'structured-output'],
    model: (reach) => createOpenAI(settings(reach)).chat('gpt-wire'),
  },
  'openai responses': {
    format: openaiResponses,
    offers: [...ALWAYS, 'structured-output', 'reasoning'],
    model: (reach) => createOpenAI(settings(reach)).responses('gpt-5-wire'),
  },
  'anthropic messages': {
    format: () => anthropicMessages,
    offers: [...ALWAYS, 'reasoning', 'structured-output'],
    model: (reach) => createAnthropic(settings(reach))('claude-sonnet-4-5'),
  },
  'openai-compatible': {
    format: () => openaiChat,
    offers: ALWAYS,
    model: (reach) =>
      createOpenAICompatible({ name: 'local', includeUsage: true, ...settings(reach) })('wire'),
  },
} as const satisfies Readonly<Record<string, Provider>>

export type ProviderName = keyof typeof providers

export const providerNames = Object.keys(providers) as ProviderName[]

function settings({ url, fetch }: Reach) {
  return { baseURL: url, apiKey: KEY, ...(fetch !== undefined && { fetch }) }
}

export interface WireSubject extends ModelSubject {
  readonly wire: Wire
  readonly clock: ManualClock
}

/** The adapter in front of a wire whose turns are planned. */
export async function createWireSubject(
  name: ProviderName,
  reach: (wire: Wire) => Reach | Promise<Reach>,
  options: VercelAIAdapterOptions = {},
): Promise<WireSubject> {
  const turns: PlannedTurn[] = []
  const wire = new Wire(providers[name].format(), () => {
    const turn = turns.shift()
    if (turn === undefined) throw new Error('the plan is over')
    return turn
  })
  const clock = new ManualClock()
  const idleTimeoutMs = 20_000
  const model = providers[name].model(await reach(wire))
  return {
    wire,
    clock,
    adapter: new VercelAIAdapter({ clock, idleTimeoutMs, random: () => 0.5, ...options }),
    config: { model },
    plan: (...planned) => void turns.push(...planned),
    calls: wire.calls,
    passTime: (ms) => clock.advance(ms),
    idleTimeoutMs,
    secret: KEY,
  }
}
