import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { modelByName } from '@helix-agents/llm-vercel'

const providers = { openai: createOpenAI, anthropic: createAnthropic }

/** The model that the variables of the Worker name: see .env.example. Absent: it is scripted. */
export function modelOf(env: Cloudflare.Env) {
  return modelByName({ ...env }, { providers, compatible: createOpenAICompatible })
}
