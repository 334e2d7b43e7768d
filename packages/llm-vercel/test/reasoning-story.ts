import { defineAgent, defineTool } from '@helix-agents/core'
import type { SessionStateStore } from '@helix-agents/core/runtime'
import { VercelAIAdapter } from '@helix-agents/llm-vercel'
import { JSAgentExecutor } from '@helix-agents/runtime-js'
import { InMemoryStreamManager } from '@helix-agents/store-memory'
import type { PlannedPart, PlannedTurn } from '@helix-agents/workspace-conformance/model'
import { fetchOf } from './wire/wire-fetch.ts'
import { Wire } from './wire/wire.ts'
import { type ProviderName, providers } from './wire/wire-subjects.ts'

/** Those whose reasoning must come back. */
export const providersThatSign = [
  'anthropic messages',
  'openai responses',
] as const satisfies readonly ProviderName[]

/** Whether stores keep any text is tried by their own conformance. */
export const SIGNATURES: readonly string[] = ['sigone', 'sigtwo']

const thought = (signature: string): PlannedPart => ({
  type: 'reasoning',
  pieces: ['I should ', 'look.'],
  signature,
})
const answer = (...parts: readonly PlannedPart[]): PlannedTurn => ({ type: 'answer', parts })
const text: PlannedPart = { type: 'text', pieces: ['Done.'] }

const look = defineTool({
  name: 'look',
  description: 'Looks.',
  inputSchema: { type: 'object', properties: {} },
  execute: async () => 'seen',
})

/** A session whose model thinks and signs: begun in one process, gone on with in another. */
export class ReasoningStory {
  readonly #provider: ProviderName
  readonly #turns: PlannedTurn[] = []
  /** The provider goes on, whoever calls it. */
  readonly #wire: Wire

  constructor(provider: ProviderName) {
    this.#provider = provider
    this.#wire = new Wire(providers[provider].format(), () => {
      const turn = this.#turns.shift()
      if (turn === undefined) throw new Error('the plan is over')
      return turn
    })
  }

  begin(store: SessionStateStore): Promise<void> {
    const [first = '', second = ''] = SIGNATURES
    const call: PlannedPart = { type: 'call', id: 'c1', name: 'look', pieces: ['{}'] }
    return this.#run(store, [answer(thought(first), call), answer(thought(second), text)])
  }

  goOn(store: SessionStateStore): Promise<void> {
    return this.#run(store, [answer(text)])
  }

  /** In the last call, in their order. */
  signaturesSent(): readonly string[] {
    const messages = this.#wire.calls.at(-1)?.messages ?? []
    return messages.flatMap((message) => (message.role === 'assistant' ? message.signatures : []))
  }

  /** Nothing of the run before is there but what is stored. */
  async #run(store: SessionStateStore, turns: readonly PlannedTurn[]): Promise<void> {
    this.#turns.push(...turns)
    const wire = this.#wire
    const model = providers[this.#provider].model({
      url: 'https://wire.test/v1',
      fetch: fetchOf(wire),
    })
    const agent = defineAgent({ name: 'thinker', llmConfig: { model }, tools: [look] })
    const executor = new JSAgentExecutor(store, new InMemoryStreamManager(), new VercelAIAdapter())
    const handle = await executor.execute(agent, 'Look.', { sessionId: 'session' })
    const { error, status } = await handle.result()
    if (wire.problems.length > 0) throw new Error(wire.problems.join('\n'))
    if (status !== 'completed') throw new Error(`the run is ${status}`, { cause: error })
  }
}
