import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider'
import type { LLMConfig, StepInput } from '@helix-agents/core'
import type { PromptMaker } from './prompt/prompt-maker.ts'
import { toResponseFormat } from './tools/response-format.ts'
import type { ToolMaker } from './tools/tool-maker.ts'

/** A call of the model, but for its signal. */
export type CallOptions = Omit<LanguageModelV4CallOptions, 'abortSignal'>

/** What a step is for the provider interface of the AI SDK. */
export function createCallOptions(
  input: StepInput,
  model: LanguageModelV4,
  prompts: PromptMaker,
  tools: ToolMaker,
): CallOptions {
  const { config } = input
  const functions = tools.make(input.tools)
  const { responseSchema } = config
  return {
    ...samplingOf(config),
    prompt: prompts.make(input, model),
    ...(functions.length !== 0 && { tools: functions, toolChoice: { type: 'auto' } }),
    ...(responseSchema !== undefined && { responseFormat: toResponseFormat(responseSchema) }),
    ...(config.headers !== undefined && { headers: { ...config.headers } }),
    ...(config.providerOptions !== undefined && {
      providerOptions: toProviderOptions(config.providerOptions),
    }),
  }
}

type ProviderOptions = NonNullable<LanguageModelV4CallOptions['providerOptions']>

function toProviderOptions(options: Readonly<Record<string, unknown>>): ProviderOptions {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the provider parses its own options
  return options as ProviderOptions
}

type Sampling = Pick<
  LanguageModelV4CallOptions,
  | 'maxOutputTokens'
  | 'temperature'
  | 'topP'
  | 'topK'
  | 'presencePenalty'
  | 'frequencyPenalty'
  | 'stopSequences'
  | 'seed'
>

function samplingOf(config: LLMConfig): Sampling {
  const { stopSequences, ...rest } = config
  const numbers = [
    'maxOutputTokens',
    'temperature',
    'topP',
    'topK',
    'presencePenalty',
    'frequencyPenalty',
    'seed',
  ] as const
  const given = numbers.filter((name) => rest[name] !== undefined)
  return {
    ...Object.fromEntries(given.map((name) => [name, rest[name]])),
    ...(stopSequences !== undefined && { stopSequences: [...stopSequences] }),
  }
}
