import { ModelError, type ModelRetry, type StepInput, type StepResult } from '@helix-agents/core'
import { untilAborted } from '@helix-agents/core/provider'
import {
  contentLimits,
  readStepResult,
  type StepCallbacks,
  traced,
} from '@helix-agents/core/runtime'
import { type CallInput, InputMaker } from './prepare-input.ts'
import type { Run } from '../ports.ts'
import { modelSpan, recordModel } from '../observe/spans.ts'

/**
 * Asks the model for one step and streams its answer. Rejects as soon as the run is stopped,
 * even when the adapter does not listen to its signal.
 */
export function createModelCaller(run: Run): () => Promise<StepResult> {
  const streamed = { text: false, thinking: false, toolInput: false, characters: 0 }
  const callbacks = createCallbacks(run, streamed)
  const inputs = new InputMaker(run)
  return async () => {
    for (let attempt = 1; ; attempt += 1) {
      reset(streamed)
      const made = inputs.make()
      // Most agents have no hook: a step of theirs does not wait for one.
      const isLater = made instanceof Promise
      const input = isLater ? await untilAborted(made, run.control.signal) : made
      const result = await askModel(run, input, callbacks)
      const error = inputs.shorten(result, input.messages)
      if (error === undefined) {
        inputs.accepted()
        if (result.type === 'text' || result.type === 'tool_calls')
          emitUnstreamed(run, result, streamed)
        return result
      }
      const discardsOutput = streamed.text || streamed.thinking || streamed.toolInput
      emitRetry(run, { error, attempt, delayMs: 0, discardsOutput })
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
      recordModel(span, answer)
      return answer
    },
  )
  if (result.usage !== undefined) run.meter.count(result.usage, prepared.config)
  return result
}

interface Streamed {
  text: boolean
  thinking: boolean
  toolInput: boolean
  /** Of what was streamed, up to the limit of an answer. */
  characters: number
}

function reset(streamed: Streamed): void {
  streamed.text = false
  streamed.thinking = false
  streamed.toolInput = false
  streamed.characters = 0
}

/** An adapter that streams without an end is stopped by the error that it gets. */
function countStreamed(streamed: Streamed, piece: string): void {
  streamed.characters += piece.length
  if (streamed.characters > contentLimits.maxCharacters) throw new ModelError('answer-too-large')
}

function createCallbacks(run: Run, streamed: Streamed): StepCallbacks {
  const { chunks, control } = run
  return {
    onTextDelta: (delta) => {
      if (control.cause !== undefined) return
      streamed.text = true
      countStreamed(streamed, delta)
      chunks.emit('text_delta', { delta })
    },
    onThinking: (content, isComplete) => {
      if (control.cause !== undefined) return
      streamed.thinking = true
      if (!isComplete) countStreamed(streamed, content)
      chunks.emit('thinking', { content, isComplete })
    },
    onToolInput: (piece) => {
      if (control.cause !== undefined) return
      streamed.toolInput = true
      countStreamed(streamed, piece.delta)
      chunks.emit('tool_input_delta', piece)
    },
    onRetry: (retry) => {
      if (control.cause !== undefined) return
      reset(streamed)
      emitRetry(run, retry)
    },
  }
}

/** Reports a retry of a model call, on the stream and in the log. */
export function emitRetry({ chunks, services, sessionId, runId }: Run, retry: ModelRetry): void {
  const { error, attempt, delayMs, discardsOutput } = retry
  const { code, message } = error
  chunks.emit('model_retry', { code, message, attempt, delayMs, discardsOutput })
  const fields = { err: error, sessionId, runId, attempt, delayMs }
  services.logger.warn(fields, 'retrying model call')
}

/** An adapter that does not stream still gets its text onto the stream. */
function emitUnstreamed(
  { chunks }: Run,
  result: { readonly content?: string; readonly thinking?: string },
  streamed: Streamed,
): void {
  const { content, thinking } = result
  if (thinking !== undefined && !streamed.thinking) {
    chunks.emit('thinking', { content: thinking, isComplete: true })
  }
  if (content !== undefined && content !== '' && !streamed.text) {
    chunks.emit('text_delta', { delta: content })
  }
}
