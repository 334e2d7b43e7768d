import type { LLMAdapter, StepInput, StepResult } from '@helix-agents/core'

/** More runs than one object has at a time, with all their sub-agents. */
const MAX_RUNS = 64

/** Makes an adapter for each run, when its model is called first. */
export class ModelPerRun implements LLMAdapter {
  readonly #create: () => LLMAdapter
  readonly #adapters = new Map<string, LLMAdapter>()

  constructor(create: () => LLMAdapter) {
    this.#create = create
  }

  async generateStep(input: StepInput): Promise<StepResult> {
    return this.#of(input.agentId).generateStep(input)
  }

  #of(runId: string): LLMAdapter {
    const known = this.#adapters.get(runId)
    if (known !== undefined) return known
    const made = this.#create()
    const [oldest] = this.#adapters.keys()
    if (this.#adapters.size >= MAX_RUNS && oldest !== undefined) this.#adapters.delete(oldest)
    this.#adapters.set(runId, made)
    return made
  }
}
