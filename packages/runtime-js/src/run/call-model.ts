import {
  type StepCallbacks,
  type StepInput,
  type StepResult,
  traced,
  untilAborted,
} from '@helix-agents/core'
import type { Run } from './run.ts'
import { modelSpan, noteModel } from './spans.ts'

/**
 * Asks the model for one step, and streams what it says. Rejects as soon as the run is stopped,
 * even when the adapter does not listen to its signal.
 */
export function createModelCaller(run: Run): () => Promise<StepResult> {
  const { services, agent, control, toolSet } = run
  const spoken = { text: false, thinking: false }
  const callbacks = createCallbacks(run, spoken)
  const promptOf = createPrompt(run)
  return async () => {
    spoken.text = false
    spoken.thinking = false
    const systemPrompt = promptOf()
    const input: StepInput = {
      ...(systemPrompt === undefined ? {} : { systemPrompt }),
      messages: run.messages,
      tools: toolSet.tools.specs,
      config: agent.llmConfig,
      abortSignal: control.signal,
      callbacks,
      agentId: run.runId,
      agentType: agent.name,
    }
    const result = await traced(
      services.tracer,
      () => modelSpan(run),
      async (span) => {
        const step = services.llmAdapter.generateStep(input)
        const answer = await untilAborted(step, control.signal)
        noteModel(span, answer)
        return answer
      },
    )
    run.count(result.usage)
    if (result.type === 'text' || result.type === 'tool_calls') speakRest(run, result, spoken)
    return result
  }
}

interface Spoken {
  text: boolean
  thinking: boolean
}

function createCallbacks({ chunks, control }: Run, spoken: Spoken): StepCallbacks {
  return {
    onTextDelta: (delta) => {
      if (control.cause !== undefined) return
      spoken.text = true
      chunks.emit('text_delta', { delta })
    },
    onThinking: (content, isComplete) => {
      if (control.cause !== undefined) return
      spoken.thinking = true
      chunks.emit('thinking', { content, isComplete })
    },
  }
}

/** An adapter that does not stream still gets its text onto the stream. */
function speakRest(
  { chunks }: Run,
  result: { readonly content?: string; readonly thinking?: string },
  spoken: Spoken,
): void {
  const { content, thinking } = result
  if (thinking !== undefined && !spoken.thinking) {
    chunks.emit('thinking', { content: thinking, isComplete: true })
  }
  if (content !== undefined && content !== '' && !spoken.text) {
    chunks.emit('text_delta', { delta: content })
  }
}

/** The system prompt; one that is made from the state is made again only when the state changed. */
function createPrompt({ agent, state }: Run): () => string | undefined {
  const { systemPrompt } = agent
  if (typeof systemPrompt !== 'function') return () => systemPrompt
  let madeFrom: unknown
  let prompt: string | undefined
  return () => {
    if (prompt === undefined || madeFrom !== state.current) {
      madeFrom = state.current
      prompt = systemPrompt(madeFrom ?? {})
    }
    return prompt
  }
}
