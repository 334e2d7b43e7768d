import type { Agent, LLMAdapter } from '@helix-agents/core'
import type { SessionStateStore, StreamManager } from '@helix-agents/core/runtime'
import {
  type AgentHandle,
  type ExecuteInput,
  type ExecuteOptions,
  JSAgentExecutor,
  type JSAgentExecutorOptions,
  type Recovery,
  type RequestResponse,
  type RespondResult,
  type ResumeOptions,
} from '@helix-agents/runtime-js'
import type { RunRecord } from './run-records.ts'
import type { RunWatchdog } from './run-watchdog.ts'

export interface DurableExecutorParts {
  readonly stateStore: SessionStateStore
  readonly streamManager: StreamManager
  readonly llmAdapter: LLMAdapter
  readonly options: JSAgentExecutorOptions
  readonly watchdog: RunWatchdog
}

/** The executor of an object: its runs are recorded, and resumed after an eviction. */
export class DurableExecutor extends JSAgentExecutor {
  readonly #watchdog: RunWatchdog
  /** Sessions that are being resumed: their runs are recorded with the attempts before. */
  readonly #resuming = new Map<string, RunRecord>()

  constructor({ stateStore, streamManager, llmAdapter, options, watchdog }: DurableExecutorParts) {
    super(stateStore, streamManager, llmAdapter, options)
    this.#watchdog = watchdog
  }

  /** Starts a run that is resumed after an eviction of the object. */
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

  /** Resumes a session with a run that is resumed after an eviction of the object. */
  override async resume<TState, TOutput>(
    agent: Agent<TState, TOutput>,
    sessionId: string,
    options: ResumeOptions = {},
  ): Promise<AgentHandle<TOutput>> {
    const record = this.#resuming.get(sessionId) ?? { sessionId, attempts: 0 }
    return this.#watchdog.watch(record, () => super.resume(agent, sessionId, options))
  }

  /**
   * Answers a request. It is recorded meanwhile: when the object is evicted before the session was
   * resumed, the next instance does that.
   */
  override async respond<TState, TOutput>(
    agent: Agent<TState, TOutput>,
    sessionId: string,
    requestId: string,
    response: RequestResponse,
  ): Promise<RespondResult<TOutput>> {
    const work = (): Promise<RespondResult<TOutput>> =>
      super.respond(agent, sessionId, requestId, response)
    return response.resume === false ? work() : this.#watchdog.note(sessionId, work)
  }

  /** Resumes a run of an earlier instance, if that has left one. */
  async resumeLeft(agent: Agent, record: RunRecord): Promise<Recovery> {
    this.#resuming.set(record.sessionId, record)
    try {
      return await this.recover(agent, record.sessionId)
    } finally {
      this.#resuming.delete(record.sessionId)
    }
  }
}
