import type { LLMAdapter } from '@helix-agents/core'
import { scriptedModel } from './scripted-model.ts'

/** The model of the assistant. Put a real one here: all else stays. */
export function createModel(_env: Cloudflare.Env): LLMAdapter {
  return scriptedModel
}
