import type { Agent, LLMAdapter } from '@helix-agents/core'
import type { SessionStateStore, StreamManager } from '@helix-agents/core/runtime'
import {
  type AgentHandle,
  type ExecuteInput,
  type ExecuteOptions,
  JSAgentExecutor,
  type JSAgentExecutorOptions,
  type Recovery,
  type ResumeOptions,
} from '@helix-agents/runtime-js'
import type { RunNote } from './run-notes.ts'
import type { RunWatchdog } from './run-watchdog.ts'

export interface DurableExecutorParts {
  readonly stateStore: SessionStateStore
  readonly streamManager: StreamManager
  readonly llmAdapter: LLMAdapter
  readonly options: JSAgentExecutorOptions
  readonly watchdog: RunWatchdog
}

/** The executor of an object: what it runs is noted, and goes on after an eviction. */
export class DurableExecutor extends JSAgentExecutor {
  readonly #watchdog: RunWatchdog
  /** Sessions that are being taken up: their runs are noted with the attempts before. */
  readonly #takenUp = new Map<string, RunNote>()

  constructor({ stateStore, streamManager, llmAdapter, options, watchdog }: DurableExecutorParts) {
    super(stateStore, streamManager, llmAdapter, options)
    this.#watchdog = watchdog
  }

  /** Starts a run that goes on after an eviction of the object. */
  override async execute<TState, TOutput>(
    agent: Agent<TState, TOutput>,
    input: ExecuteInput,
    options: ExecuteOptions = {},
  ): Promise<AgentHandle<TOutput>> {
    const { sessionId = crypto.randomUUID() } = options
    return this.#watchdog.watch({ sessionId, attempts: 0 }, () =>
      super.execute(agent, input, { ...options, sessionId }),
    )
  }

  /** Goes on with a session, with a run that goes on after an eviction of the object. */
  override async resume<TState, TOutput>(
    agent: Agent<TState, TOutput>,
    sessionId: string,
    options: ResumeOptions = {},
  ): Promise<AgentHandle<TOutput>> {
    const note = this.#takenUp.get(sessionId) ?? { sessionId, attempts: 0 }
    return this.#watchdog.watch(note, () => super.resume(agent, sessionId, options))
  }

  /** Goes on with a run of an earlier instance, if that has left one. */
  async takeUp(agent: Agent, note: RunNote): Promise<Recovery> {
    this.#takenUp.set(note.sessionId, note)
    try {
      return await this.recover(agent, note.sessionId)
    } finally {
      this.#takenUp.delete(note.sessionId)
    }
  }
}
