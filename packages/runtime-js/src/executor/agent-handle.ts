import { type Agent, AgentAlreadyRunningError, SessionError } from '@helix-agents/core'
import {
  NO_USAGE,
  type SequencedChunk,
  type SessionState,
  type StopRequest,
  type StreamReaderOptions,
} from '@helix-agents/core/runtime'
import type { ActiveRun } from '../run/active-runs.ts'
import type { ResumeOptions } from './executor-options.ts'
import type { AgentResult } from '../agent-result.ts'
import { abortTurns } from '../stream/abort-turns.ts'
import { readStream } from '../stream/read-stream.ts'
import { untilRunEnds } from '../stream/until-run-ends.ts'
import type { RunServices } from '../ports.ts'
import { loadOpenRequests } from '../request/open-requests.ts'

/** Handle to a session. */
export interface AgentHandle<TOutput = unknown> {
  readonly sessionId: string
  /** The run behind the handle; absent when the session has none yet. */
  readonly runId: string | undefined
  /**
   * The chunks of the current run, from its start or from `fromSequence`, to its end. A resumed
   * run continues the stream: without `fromSequence` its readers see the part before the pause too.
   */
  stream(options?: StreamReaderOptions): AsyncIterable<SequencedChunk>
  /**
   * How the run ended. Waits for a run that is under way, also in another process.
   * @throws {AgentAlreadyRunningError} `already-running` when its process died: resume it.
   * @throws {SessionError} `not-resumable` when the session never ran.
   */
  result(): Promise<AgentResult<TOutput>>
  /**
   * Asks the run to stop after the step under way; it can be resumed. A run of another process learns
   * of it from the store, within a second: this resolves once it is stored.
   * @throws {SessionError} `not-running` when there is no run, it is over, or its process died;
   * `runs-elsewhere` when it is under way in another process and the store keeps no stops.
   */
  interrupt(): Promise<void>
  /**
   * Stops the run at once, model and tools included; its workspaces follow `keepWorkspaces`. A run of
   * another process learns of it from the store, within a second: this resolves once it is stored. A
   * session that does not run is ended: with it its workspaces, those that could not be closed before
   * included, and its requests. An aborted run is not resumed. Turns that wait in the `turnQueue` never
   * run; the handle of a queued turn aborts that one only, and one that has not begun leaves its session
   * as it was.
   */
  abort(): Promise<void>
  /** Resumes the session. @throws {SessionError} `not-resumable` */
  resume(options?: ResumeOptions): Promise<AgentHandle<TOutput>>
}

/** What a handle needs of its executor. */
export interface HandleActions<TOutput> {
  resume(options: ResumeOptions): Promise<AgentHandle<TOutput>>
  /** Ends a session that does not run. */
  abortSession(): Promise<void>
}

export interface HandleParts<TOutput> {
  readonly services: RunServices
  readonly agent: Agent<unknown, TOutput>
  readonly sessionId: string
  readonly runId: string | undefined
  /** The run of this executor, while the handle is about one. */
  readonly run?: ActiveRun
  readonly actions: HandleActions<TOutput>
}

export function createHandle<TOutput>(parts: HandleParts<TOutput>): AgentHandle<TOutput> {
  const { services, sessionId, runId, actions } = parts
  return {
    sessionId,
    runId,
    stream: (options) => readStream(services, sessionId, options),
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the output schema has checked it
    result: async () => (await (parts.run?.done ?? storedResult(parts))) as AgentResult<TOutput>,
    interrupt: () => interruptRun(services, sessionId),
    abort: () => abortTurns(services, { sessionId }, () => abortRun(services, sessionId, actions)),
    resume: (options = {}) => actions.resume(options),
  }
}

/** Stops the run of a session, wherever it is, or ends a session that does not run. */
export async function abortRun(
  services: RunServices,
  sessionId: string,
  actions: Pick<HandleActions<unknown>, 'abortSession'>,
): Promise<void> {
  await services.active.untilStarted(sessionId)
  const run = services.active.get(sessionId)
  if (run !== undefined) return run.control.stop('aborted')
  const isStored = await requestStop(services, sessionId, 'abort')
  if (!isStored) await actions.abortSession()
}

async function interruptRun(services: RunServices, sessionId: string): Promise<void> {
  await services.active.untilStarted(sessionId)
  const run = services.active.get(sessionId)
  if (run !== undefined && services.active.isRunning(sessionId)) return run.control.interrupt()
  if (run === undefined && (await requestStop(services, sessionId, 'interrupt'))) return
  throw new SessionError('not-running', sessionId, 'no run of it is under way')
}

/** Stores a stop for a run of another process. @returns whether there is one */
async function requestStop(
  services: RunServices,
  sessionId: string,
  stop: StopRequest,
): Promise<boolean> {
  const session = await load(services, sessionId)
  const { clock, stateStore } = services
  if (session?.status !== 'running' || clock.now() >= (session.leaseUntil ?? 0)) return false
  await stateStore.requestStop(sessionId, stop)
  return true
}

/** The result of a run that this handle did not start. */
async function storedResult<TOutput>(parts: HandleParts<TOutput>): Promise<AgentResult> {
  const { services, sessionId } = parts
  const live = services.active.get(sessionId)
  if (live !== undefined) return live.done
  const session = await load(services, sessionId)
  if (session?.status !== 'running') return toResult(services, sessionId, session)
  await untilRunEnds(services, session)
  return toResult(services, sessionId, await load(services, sessionId))
}

function load({ stateStore }: RunServices, sessionId: string): Promise<SessionState | null> {
  return stateStore.loadSession(sessionId)
}

async function toResult(
  services: RunServices,
  sessionId: string,
  session: SessionState | null,
): Promise<AgentResult> {
  if (session === null || session.runId === undefined || session.status === 'idle') {
    throw new SessionError('not-resumable', sessionId, 'it has not run yet')
  }
  const { runId, stepCount, status, usage = NO_USAGE } = session
  if (status === 'running') throw new AgentAlreadyRunningError(sessionId)
  const base = { sessionId, runId, stepCount, usage }
  if (status === 'completed') return { ...base, status, output: session.output }
  if (status === 'waiting') {
    return { ...base, status, requests: await loadOpenRequests(services, sessionId) }
  }
  if (status !== 'failed') return { ...base, status }
  const unknown = { code: 'internal', message: 'the run failed' }
  return { ...base, status, error: session.error ?? unknown }
}
