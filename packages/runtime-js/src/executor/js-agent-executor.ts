import { type Agent, type LLMAdapter, SessionError, type UserMessage } from '@helix-agents/core'
import {
  type MessageDelivery,
  type Page,
  type RequestQuery,
  type SessionRequest,
  type SessionStateStore,
  type StreamManager,
  warnAboutCommands,
  type WorkspaceRegistry,
} from '@helix-agents/core/runtime'
import { assertAgent, assertParts, assertText, isBusy, parseSessionId } from './check-arguments.ts'
import { assertBranchOptions, assertRestoreOptions } from '../session/check-options.ts'
import type { AgentResult } from '../agent-result.ts'
import { abortSession } from '../session/abort-session.ts'
import { type AgentHandle, createHandle } from './agent-handle.ts'
import { branchSession } from './branch-session.ts'
import { deleteSession } from './delete-session.ts'
import { enqueueTurn, withTurn } from './enqueue-turn.ts'
import type {
  BranchOptions,
  DeleteOptions,
  EnqueueOptions,
  ExecuteInput,
  ExecuteOptions,
  JSAgentExecutorOptions,
  RestoreCheckpointOptions,
  ResumeOptions,
  ShutdownOptions,
} from './executor-options.ts'
import type { ActiveRun } from '../run/active-runs.ts'
import { toLabels, toUserMessages } from './execute-input.ts'
import { createServices } from '../run/create-services.ts'
import { launchRun } from '../run/launch.ts'
import type { LaunchRequest } from '../ports.ts'
import { type Recovery, recoverSession } from './recover-session.ts'
import { checkResume, type ResumeCheck } from '../session/check-resume.ts'
import { HistoryOperations } from '../history/history-operations.ts'
import { restoreSession } from './restore-session.ts'
import { RunControl } from '../run/run-control.ts'
import type { RunServices } from '../ports.ts'
import type { RequestResponse } from '../request/check-answer.ts'
import { respond, type RespondResult } from './respond.ts'
import { type SendOptions, sendMessage, type SentMessage } from './send-message.ts'
import { shutDown } from './shut-down.ts'

/** A run that is under way. */
export interface StartedRun {
  readonly sessionId: string
  /** How it ends. Never rejects. */
  readonly done: Promise<AgentResult>
}

/**
 * Runs agents in this process. State and streams live in the stores, so another process can
 * resume a session when this one stops. One executor serves any number of agents and sessions.
 */
export class JSAgentExecutor extends HistoryOperations {
  readonly #services: RunServices
  /** How long a run of a process that died keeps its session, in milliseconds. */
  readonly leaseMs: number

  /**
   * @throws {WorkspaceFailedError} `config-invalid` for providers that cannot be told apart.
   * @throws {RangeError} for a `leaseMs` that is not a time.
   * @throws {TypeError} for what is no store, no stream manager or no adapter.
   */
  constructor(
    stateStore: SessionStateStore,
    streamManager: StreamManager,
    llmAdapter: LLMAdapter,
    options: JSAgentExecutorOptions = {},
  ) {
    super()
    const parts = { stateStore, streamManager, llmAdapter }
    assertParts(parts)
    this.#services = createServices(parts, options, (request) => this.#launch(request))
    this.leaseMs = this.#services.leaseMs
  }

  /**
   * Starts a run, in a new session or as the next turn of one. Resolves once the message is
   * stored; the run proceeds by itself. With `mode: 'enqueue'` a worker runs the turn: this resolves
   * once the turn is stored, with one write; the handle waits until a worker has run it. Its
   * stream and its result are those of the session: of a later turn, once that has begun.
   * @throws {AgentAlreadyRunningError} `already-running` while another run holds the session.
   * @throws {SessionError} `waiting` while a call of the session waits for a person.
   * @throws {WorkspaceFailedError} `config-invalid`, `capability-missing`: what the agent declares
   * is not what the providers offer. Nothing was opened.
   * @throws {AgentDefinitionError} `definition-invalid` for a state the agent does not accept.
   * @throws {SessionError} `other-agent`, `invalid-message`; `no-queue` for a turn to enqueue without
   * a `turnQueue`, whose errors pass through.
   * @throws {RangeError} for an empty `sessionId`.
   * @throws {TypeError} for what is no agent.
   */
  async execute<TState, TOutput>(
    agent: Agent<TState, TOutput>,
    input: ExecuteInput,
    options: ExecuteOptions | EnqueueOptions = {},
  ): Promise<AgentHandle<TOutput>> {
    assertAgent(agent)
    if (options.mode === 'enqueue') {
      const turn = await enqueueTurn(this.#services, agent, input, options)
      return withTurn(this.#handle(agent, turn.sessionId), this.#services, turn)
    }
    const sessionId = parseSessionId(options.sessionId)
    const messages = toUserMessages(input, sessionId)
    const state = typeof input === 'string' ? undefined : input.state
    const { ifRunning = 'reject', keepWorkspaces } = options
    try {
      return await this.#start(agent, options.signal, {
        sessionId,
        mode: 'execute',
        messages,
        labels: toLabels(options),
        keepWorkspaces,
        ...(state !== undefined && { state }),
      })
    } catch (error) {
      if (ifRunning === 'reject' || state !== undefined || !isBusy(error)) throw error
      return await this.#sendAll(agent, sessionId, { messages, delivery: ifRunning })
    }
  }

  /**
   * Resumes a session that was interrupted, that failed, or whose process died. Finished tool calls
   * are not run again; one that may have taken effect is reported to the model as unknown, one that
   * waited for such a call as not started. A run whose outcome was decided ends with it, without the
   * model. With a message, a completed session is resumed too; this resolves once the message is
   * stored, which is when the step under way is done.
   * @throws {SessionError} `not-resumable`, `other-agent`, `invalid-message`
   * @throws {AgentAlreadyRunningError} `already-running`, also while the lease of a process that
   * died has not run out.
   */
  async resume<TState, TOutput>(
    agent: Agent<TState, TOutput>,
    sessionId: string,
    options: ResumeOptions = {},
  ): Promise<AgentHandle<TOutput>> {
    assertAgent(agent)
    const { message } = options
    return this.#start(agent, options.signal, {
      sessionId,
      mode: 'resume',
      messages: message === undefined ? [] : toUserMessages({ message }, sessionId),
      keepWorkspaces: options.keepWorkspaces,
    })
  }

  /**
   * Resumes a session that was left in the middle of a run: its process died and its lease has
   * expired, or it was shut down. Any other one is left alone, and the outcome says why; so it is safe
   * to call for every session, when a process starts and again while some are held.
   * @throws {SessionError} `other-agent`, `not-resumable` for an unknown session, or one whose
   * process died before it had stored the message
   */
  async recover<TState, TOutput>(
    agent: Agent<TState, TOutput>,
    sessionId: string,
    options: Pick<ResumeOptions, 'keepWorkspaces' | 'signal'> = {},
  ): Promise<Recovery<TOutput>> {
    assertAgent(agent)
    const start = (mode: 'execute' | 'resume'): Promise<AgentHandle<TOutput>> =>
      this.#startQueued(agent, mode, { ...options, sessionId })
    return recoverSession(this.#services, agent, { sessionId, start })
  }

  /**
   * Answers a request, from any process that shares the store, and resumes its session unless a run
   * holds it. The first answer counts.
   * @throws {SessionError} `unknown-request`, `already-decided`, `expired`, `invalid-answer` (the
   * request stays open), `other-agent`
   */
  async respond<TState, TOutput>(
    agent: Agent<TState, TOutput>,
    sessionId: string,
    requestId: string,
    response: RequestResponse,
  ): Promise<RespondResult<TOutput>> {
    assertAgent(agent)
    assertText(requestId, 'requestId')
    const resume = (): Promise<AgentHandle<TOutput>> => this.resume(agent, sessionId)
    return respond(this.#services, agent, { sessionId, requestId, response, resume })
  }

  /**
   * Sends a message to a session, from any process that shares the store: to its run, or to start one.
   * Resolves once it is stored. To a session that waits for a person it comes after the answer.
   * @throws {SessionError} `not-resumable` for an unknown session, `other-agent`, `invalid-message`
   */
  async send<TState, TOutput>(
    agent: Agent<TState, TOutput>,
    sessionId: string,
    message: string | UserMessage,
    options: SendOptions = {},
  ): Promise<SentMessage<TOutput>> {
    assertAgent(agent)
    const start = (mode: 'execute' | 'resume'): Promise<AgentHandle<TOutput>> =>
      this.#startQueued(agent, mode, { sessionId })
    return sendMessage(this.#services, agent, { sessionId, message, options, start })
  }

  /**
   * Requests of one session and its sub-agents, or of all sessions of the store, oldest first.
   * @throws {StateStoreError} `invalid-query`
   */
  listRequests(query: Omit<RequestQuery, 'now'> = {}): Promise<Page<SessionRequest>> {
    const { stateStore, clock } = this.#services
    return stateStore.listRequests({ ...query, now: clock.now() })
  }

  /** The handle of a session; `null` when there is no such session. */
  async getHandle<TState, TOutput>(
    agent: Agent<TState, TOutput>,
    sessionId: string,
  ): Promise<AgentHandle<TOutput> | null> {
    assertAgent(agent)
    const run = this.#services.active.get(sessionId)
    if (run !== undefined) return this.#handle(agent, sessionId, run)
    const session = await this.#services.stateStore.loadSession(sessionId)
    if (session === null || session.agentType !== agent.name) return null
    return this.#handle(agent, sessionId, undefined, session.runId)
  }

  /**
   * Whether `resume` without a message can continue the session: not while another process holds it,
   * which is until `state.leaseUntil` by the clock of this process.
   */
  async canResume(agent: Agent, sessionId: string): Promise<ResumeCheck> {
    assertAgent(agent)
    return checkResume(this.#services, agent, sessionId)
  }

  /**
   * Makes a new session from another one, as it was at a checkpoint or is now. It has the
   * messages and the custom state of its source, and fresh workspaces unless `seedWorkspaces`
   * says otherwise.
   * @throws {WorkspaceFailedError} of a workspace that could not be copied.
   * @throws {SessionError} `not-resumable`, `other-agent`
   * @throws {StateStoreError} `conflict` when the new session exists.
   */
  async branch<TState, TOutput>(
    agent: Agent<TState, TOutput>,
    options: BranchOptions,
  ): Promise<AgentHandle<TOutput>> {
    assertAgent(agent)
    assertBranchOptions(options)
    const sessionId = await branchSession(this.#services, agent, options)
    return this.#handle(agent, sessionId)
  }

  /**
   * Restores a session to one of its checkpoints: later messages and steps are removed, sub-agents
   * they were waiting for are ended, and readers of its stream get a `stream_resync`. Its status
   * becomes `interrupted`: `resume` continues from there, with the workspaces it had. Files stay as
   * they are unless `files` says otherwise: those go back too, in a new backend that takes the place
   * of the old one together with the conversation. The store lists the checkpoints of a session.
   * @throws {SessionError} `files-missing` when the checkpoint has no files of a workspace.
   * @throws {WorkspaceFailedError} of a snapshot that is gone or damaged. Nothing was switched.
   * @throws {SessionError} `not-resumable` for an unknown session or checkpoint, `other-agent`
   * @throws {AgentAlreadyRunningError} `already-running` while a run holds the session.
   */
  async restoreCheckpoint<TState, TOutput>(
    agent: Agent<TState, TOutput>,
    sessionId: string,
    checkpointId: string,
    options: RestoreCheckpointOptions = {},
  ): Promise<AgentHandle<TOutput>> {
    assertAgent(agent)
    assertRestoreOptions(checkpointId, options)
    const target = { ...options, sessionId, checkpointId }
    const runId = await restoreSession(this.#services, agent, target)
    return this.#handle(agent, sessionId, undefined, runId)
  }

  /**
   * Removes a session with all that belongs to it: the sessions of its sub-agents, its workspaces,
   * its stream, its state. An unknown one is removed already, and one that cannot be read is removed
   * as well. What a process that dies has left of it is removed by the next call.
   * @throws {AgentAlreadyRunningError} `already-running` while a run holds it or a sub-agent of it:
   * here without `abortRun`, or in another process.
   * @throws {SessionError} `not-removed` when a workspace could not be ended: it keeps its ref, and
   * a later call continues. `other-agent`
   */
  async deleteSession(agent: Agent, sessionId: string, options: DeleteOptions = {}): Promise<void> {
    assertAgent(agent)
    await deleteSession(this.#services, agent, { ...options, sessionId })
  }

  /**
   * The live workspaces of a session; `undefined` when no run is active, the agent declares none,
   * or the session is paused.
   */
  getWorkspaceRegistry(sessionId: string): WorkspaceRegistry | undefined {
    return this.#services.active.get(sessionId)?.registry
  }

  /**
   * For the end of the process: interrupts every run and waits, no longer than `timeoutMs` and
   * `graceMs` together. Sessions stay resumable, and workspaces keep their files.
   */
  shutdown(options: ShutdownOptions = {}): Promise<void> {
    return shutDown(this.#services, options)
  }

  /**
   * Starts a run of a session, whatever asks for it: a call, an answer, a message, or the end of the
   * run before. A runtime that resumes runs after its process has ended overrides it. Runs of
   * sub-agents are parts of theirs.
   */
  protected startRun<TRun extends StartedRun>(
    _sessionId: string,
    start: () => Promise<TRun>,
  ): Promise<TRun> {
    return start()
  }

  protected override get parts(): RunServices {
    return this.#services
  }

  #launch(request: LaunchRequest): Promise<ActiveRun> {
    const launch = (): Promise<ActiveRun> => launchRun(this.#services, request)
    return request.parent === undefined ? this.startRun(request.sessionId, launch) : launch()
  }

  async #sendAll<TOutput>(
    agent: Agent<unknown, TOutput>,
    sessionId: string,
    given: { readonly messages: readonly UserMessage[]; readonly delivery: MessageDelivery },
  ): Promise<AgentHandle<TOutput>> {
    const { messages, delivery } = given
    let started: AgentHandle<TOutput> | undefined
    for (const message of messages) {
      const { handle } = await this.send(agent, sessionId, message, { delivery })
      started = handle ?? started
    }
    return started ?? this.#handle(agent, sessionId, this.#services.active.get(sessionId))
  }

  #startQueued<TOutput>(
    agent: Agent<unknown, TOutput>,
    mode: 'execute' | 'resume',
    { sessionId, keepWorkspaces, signal }: QueuedStart,
  ): Promise<AgentHandle<TOutput>> {
    const isFromInbox = mode === 'execute'
    const request = { sessionId, mode, messages: [], keepWorkspaces, isFromInbox }
    return this.#start(agent, signal, request)
  }

  async #start<TOutput>(
    agent: Agent<unknown, TOutput>,
    signal: AbortSignal | undefined,
    request: Omit<LaunchRequest, 'agent' | 'control' | 'toolSet'>,
  ): Promise<AgentHandle<TOutput>> {
    const toolSet = this.#services.toolSets.of(agent)
    warnAboutCommands(agent, this.#services.logger)
    const control = new RunControl()
    const unfollow = control.follow(signal)
    try {
      const run = await this.#launch({ ...request, agent, control, toolSet })
      void run.done.finally(unfollow)
      if (!(await run.acknowledged)) {
        // The caller may resume the session at once: it is released by then.
        await run.done
        throw notAcknowledged(request.sessionId)
      }
      return this.#handle(agent, request.sessionId, run)
    } catch (error) {
      unfollow()
      throw error
    }
  }

  #handle<TOutput>(
    agent: Agent<unknown, TOutput>,
    sessionId: string,
    run?: ActiveRun,
    runId: string | undefined = run?.runId,
  ): AgentHandle<TOutput> {
    return createHandle({
      services: this.#services,
      agent,
      sessionId,
      runId,
      ...(run !== undefined && { run }),
      actions: {
        resume: (options) => this.resume(agent, sessionId, options),
        abortSession: () => abortSession(this.#services, agent, sessionId),
      },
    })
  }
}

type QueuedStart = Pick<ResumeOptions, 'keepWorkspaces' | 'signal'> & {
  readonly sessionId: string
}

function notAcknowledged(sessionId: string): SessionError {
  const detail = 'its step under way was stopped again, before the message could be stored'
  return new SessionError('not-resumable', sessionId, detail)
}
