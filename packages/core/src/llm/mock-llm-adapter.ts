import { ToolFailedError } from '../errors/tool-failed-error.ts'
import type { LLMAdapter, StepInput, StepResult } from './llm-adapter.ts'

/** One scripted step: an answer, or a function of the conversation so far. */
export type MockStep = StepResult | ((input: StepInput) => StepResult | Promise<StepResult>)

/** A model that follows a script, for tests and for demos without a key. */
export class MockLLMAdapter implements LLMAdapter {
  readonly #steps: readonly MockStep[]
  #calls = 0

  constructor(steps: readonly MockStep[]) {
    this.#steps = [...steps]
  }

  /** Steps asked for so far. */
  get callCount(): number {
    return this.#calls
  }

  /**
   * Plays the next step of the script.
   * @throws {ToolFailedError} `tool-failed` when the script has no further step.
   */
  async generateStep(input: StepInput): Promise<StepResult> {
    input.abortSignal.throwIfAborted()
    const step = this.#steps[this.#calls]
    this.#calls += 1
    if (step === undefined) {
      const detail = `the script of the MockLLMAdapter has only ${this.#steps.length} steps`
      throw new ToolFailedError('tool-failed', detail)
    }
    const result = typeof step === 'function' ? await step(input) : step
    input.abortSignal.throwIfAborted()
    speak(result, input)
    return result
  }
}

function speak(result: StepResult, { callbacks }: StepInput): void {
  if (result.type !== 'text' && result.type !== 'tool_calls') return
  if (result.thinking !== undefined) callbacks.onThinking?.(result.thinking, true)
  if (result.content !== undefined && result.content !== '') callbacks.onTextDelta?.(result.content)
}
