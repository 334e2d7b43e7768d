import { ModelError, type ModelRetry, type StepInput, type StepResult } from '@helix-agents/core'
import { untilAborted } from '@helix-agents/core/provider'
import {
  contentLimits,
  readStepResult,
  type StepCallbacks,
  traced,
} from '@helix-agents/core/runtime'
import { type CallInput, InputMaker } from './prepare-input.ts'
import type { Run } from '../run/run.ts'
import { modelSpan, noteModel } from '../observe/spans.ts'

/**
 * Asks the model for one step, and streams what it says. Rejects as soon as the run is stopped,
 * even when the adapter does not listen to its signal.
 */
export function createModelCaller(run: Run): () => Promise<StepResult> {
  const spoken = { text: false, thinking: false, toolInput: false, characters: 0 }
  const callbacks = createCallbacks(run, spoken)
  const inputs = new InputMaker(run)
  return async () => {
    for (let attempt = 1; ; attempt += 1) {
      forget(spoken)
      const made = inputs.make()
      // Most agents have no hook: a step of theirs does not wait for one.
      const isLater = made instanceof Promise
      const input = isLater ? await untilAborted(made, run.control.signal) : made
      const result = await askModel(run, input, callbacks)
      const error = inputs.shorten(result, input.messages)
      if (error === undefined) {
        inputs.accepted()
        if (result.type === 'text' || result.type === 'tool_calls') speakRest(run, result, spoken)
        return result
      }
      const discardsOutput = spoken.text || spoken.thinking || spoken.toolInput
      tellRetry(run, { error, attempt, delayMs: 0, discardsOutput })
    }
  }
}

async function askModel(
  run: Run,
  prepared: CallInput,
  callbacks: StepCallbacks,
): Promise<StepResult> {
  const { services, agent, control } = run
  const input: StepInput = {
    ...prepared,
    abortSignal: control.signal,
    callbacks,
    agentId: run.runId,
    agentType: agent.name,
  }
  const result = await traced(
    services.tracer,
    () => modelSpan(run, prepared.config),
    async (span) => {
      const given = await untilAborted(services.llmAdapter.generateStep(input), control.signal)
      const answer = readStepResult(given)
      noteModel(span, answer)
      return answer
    },
  )
  run.count(result.usage, prepared.config)
  return result
}

interface Spoken {
  text: boolean
  thinking: boolean
  toolInput: boolean
  /** Of what was streamed, up to the limit of an answer. */
  characters: number
}

function forget(spoken: Spoken): void {
  spoken.text = false
  spoken.thinking = false
  spoken.toolInput = false
  spoken.characters = 0
}

/** An adapter that streams without an end is stopped by the error that it gets. */
function countSpoken(spoken: Spoken, piece: string): void {
  spoken.characters += piece.length
  if (spoken.characters > contentLimits.maxCharacters) throw new ModelError('answer-too-large')
}

function createCallbacks(run: Run, spoken: Spoken): StepCallbacks {
  const { chunks, control } = run
  return {
    onTextDelta: (delta) => {
      if (control.cause !== undefined) return
      spoken.text = true
      countSpoken(spoken, delta)
      chunks.emit('text_delta', { delta })
    },
    onThinking: (content, isComplete) => {
      if (control.cause !== undefined) return
      spoken.thinking = true
      if (!isComplete) countSpoken(spoken, content)
      chunks.emit('thinking', { content, isComplete })
    },
    onToolInput: (piece) => {
      if (control.cause !== undefined) return
      spoken.toolInput = true
      countSpoken(spoken, piece.delta)
      chunks.emit('tool_input_delta', piece)
    },
    onRetry: (retry) => {
      if (control.cause !== undefined) return
      forget(spoken)
      tellRetry(run, retry)
    },
  }
}

/** Says that a model call is made again, on the stream and in the log. */
export function tellRetry({ chunks, services, sessionId, runId }: Run, retry: ModelRetry): void {
  const { error, attempt, delayMs, discardsOutput } = retry
  const { code, message } = error
  chunks.emit('model_retry', { code, message, attempt, delayMs, discardsOutput })
  const fields = { err: error, sessionId, runId, attempt, delayMs }
  services.logger.warn(fields, 'model call is tried again')
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
