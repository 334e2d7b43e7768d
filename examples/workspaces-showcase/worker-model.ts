import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { type LLMAdapter, MockLLMAdapter } from '@helix-agents/core'
import { modelByName, VercelAIAdapter } from '@helix-agents/llm-vercel'
import { hostedStep, type Part, type Story } from './story.ts'

/** Between two answers of the scripted model. A real one takes longer. */
const PACE_MS = 400

function scriptedModel({ PART }: { readonly PART: Part }, story: Story): LLMAdapter {
  return {
    async generateStep(input) {
      await new Promise((resolve) => setTimeout(resolve, PACE_MS))
      return new MockLLMAdapter([hostedStep(story[PART], input.messages)]).generateStep(input)
    },
  }
}

/** The model that the variables of the Worker name; without one, the scripted one. */
export function chosenModel(env: { readonly PART: Part }, story: Story): LLMAdapter {
  const providers = { openai: createOpenAI, anthropic: createAnthropic }
  const model = modelByName({ ...env }, { providers, compatible: createOpenAICompatible })
  if (model === undefined) return scriptedModel(env, story)
  const real = new VercelAIAdapter()
  return {
    generateStep: (input) => real.generateStep({ ...input, config: { ...input.config, model } }),
  }
}
