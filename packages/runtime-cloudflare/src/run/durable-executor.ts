import type { Agent, LLMAdapter, UserMessage } from '@helix-agents/core'
import type { SessionRef } from '@helix-agents/core/provider'
import type { SessionStateStore, StreamManager } from '@helix-agents/core/runtime'
import {
  JSAgentExecutor,
  type JSAgentExecutorOptions,
  type Recovery,
  type RequestResponse,
  type RespondResult,
  type SendOptions,
  type SentMessage,
  type StartedRun,
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

  /** Every run is resumed after an eviction of the object. */
  protected override startRun<TRun extends StartedRun>(
    sessionId: string,
    start: () => Promise<TRun>,
  ): Promise<TRun> {
    const record = this.#resuming.get(sessionId) ?? { sessionId, attempts: 0 }
    return this.#watchdog.watch(record, start)
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

  /** Queues a message. The session is recorded meanwhile, as for an answer. */
  override async send<TState, TOutput>(
    agent: Agent<TState, TOutput>,
    sessionId: string,
    message: string | UserMessage,
    options: SendOptions = {},
  ): Promise<SentMessage<TOutput>> {
    return this.#watchdog.note(sessionId, () => super.send(agent, sessionId, message, options))
  }

  override releaseEverything(
    agent: Agent | undefined,
    session: SessionRef,
  ): Promise<readonly string[]> {
    return super.releaseEverything(agent, session)
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
