import { ToolFailedError, type UserMessage } from '@helix-agents/core'
import { logMessages } from '@helix-agents/core/provider'
import type { SessionState, SubAgentCall, StreamChunk } from '@helix-agents/core/runtime'
import { abortSession } from '../session/abort-session.ts'
import type { AgentResult, RunError } from '../agent-result.ts'
import type { LaunchRequest } from '../ports.ts'
import type { PlacedCall } from '../ports.ts'
import { RunControl } from '../run/run-control.ts'
import type { Run } from '../ports.ts'
import { subSessionIdOf } from '../session/sub-session.ts'

/** The sub-agent was interrupted or waits for a person: its call has no result yet. */
export class SubAgentPaused extends Error {
  override readonly name = 'SubAgentPaused'
  readonly end: 'interrupted' | 'waiting'

  constructor(end: 'interrupted' | 'waiting') {
    super(`the sub-agent is ${end}`)
    this.end = end
  }
}

export interface SubAgentRun extends PlacedCall {
  readonly subAgent: SubAgentCall
  readonly input: unknown
  /** Aborts with the call. */
  readonly signal: AbortSignal
}

/**
 * Runs an agent as a tool of another, in a session of its own. A call that an earlier run left
 * open continues where the session of the sub-agent is.
 */
export async function runSubAgent(parent: Run, call: SubAgentRun): Promise<unknown> {
  const subSessionId = subSessionIdOf(parent.sessionId, parent.recorder.stepCount, call.index)
  const subAgentType = call.subAgent.agent.name
  const place = { toolCallId: call.call.id, subAgentType, subSessionId }
  parent.chunks.emit('subagent_start', place)
  const end = (success: boolean): void => parent.chunks.emit('subagent_end', { ...place, success })
  try {
    const output = await runChild(parent, call, subSessionId)
    end(true)
    return output
  } catch (error) {
    // One that waits has not ended: it starts again with the answer.
    if (!(error instanceof SubAgentPaused && error.end === 'waiting')) end(false)
    throw error
  }
}

async function runChild(parent: Run, call: SubAgentRun, sessionId: string): Promise<unknown> {
  const existing = await existingSession(parent, call, sessionId)
  if (existing !== null && isOver(existing)) return endOf(parent, call, existing)
  const isNew = existing === null || existing.messageCount === 0
  const control = new RunControl()
  const release = [parent.control.adopt(control), control.follow(call.signal)]
  try {
    const request = requestOf(parent, call, { sessionId, control, isNew })
    const run = await parent.services.launch(request)
    return outputOf(await run.done, call)
  } finally {
    for (const end of release) end()
  }
}

function isOver({ status }: SessionState): boolean {
  return status === 'completed' || status === 'failed'
}

/** How a sub-agent ended before its parent could store that. */
function endOf(parent: Run, call: SubAgentRun, session: SessionState): unknown {
  parent.meter.countEarlier(session.usage)
  if (session.status === 'completed') return session.output
  throw toFailure(call, session.error)
}

async function existingSession(
  { services }: Run,
  { subAgent, isRecovered, startedAt = 0 }: SubAgentRun,
  sessionId: string,
): Promise<SessionState | null> {
  const existing = await services.stateStore.loadSession(sessionId)
  if (existing === null || (isRecovered && existing.createdAt >= startedAt)) return existing
  // Left by steps that a restored checkpoint took back: this call is another one.
  await abortSession(services, subAgent.agent, sessionId)
  await services.stateStore.deleteSession(sessionId)
  return null
}

function requestOf(
  parent: Run,
  { subAgent, input }: SubAgentRun,
  child: { readonly sessionId: string; readonly control: RunControl; readonly isNew: boolean },
): LaunchRequest {
  const { agent, inheritWorkspaces } = subAgent
  const { toolSets } = parent.services
  if (!inheritWorkspaces) warnOfSameNames(parent, subAgent)
  return {
    agent,
    sessionId: child.sessionId,
    control: child.control,
    toolSet: inheritWorkspaces ? toolSets.inheriting(agent, parent.toolSet) : toolSets.of(agent),
    mode: child.isNew ? 'execute' : 'resume',
    messages: child.isNew ? [toMessage(input)] : [],
    parent: {
      sessionId: parent.sessionId,
      requests: parent.requests,
      lease: parent.lease,
      meter: parent.meter,
      forward: {
        send: (chunk) => forward(parent, chunk),
        flush: () => parent.chunks.flush(),
      },
      ...(inheritWorkspaces ? { workspaces: parent.workspaces.access } : {}),
    },
  }
}

/** The end of a sub-agent is not the end of its parent: `subagent_end` tells it. */
function forward(parent: Run, chunk: StreamChunk): void {
  if (chunk.type !== 'output' && chunk.type !== 'error') parent.chunks.send(chunk)
}

function outputOf(result: AgentResult, { subAgent, signal }: SubAgentRun): unknown {
  if (result.status === 'completed') return result.output
  if (result.status === 'interrupted' || result.status === 'waiting') {
    throw new SubAgentPaused(result.status)
  }
  if (result.status === 'aborted' && signal.aborted) throw signal.reason
  const { name } = subAgent.agent
  if (result.status === 'aborted') throw new ToolFailedError('tool-failed', `${name} was stopped`)
  if (result.status !== 'failed') throw new TypeError(`unexpected end of ${name}`)
  throw toFailure({ subAgent }, result.error)
}

function toFailure({ subAgent }: Pick<SubAgentRun, 'subAgent'>, error?: RunError): ToolFailedError {
  const { code, message, cause } = error ?? { code: 'internal', message: 'the run failed' }
  const detail = `${subAgent.agent.name} failed [${code}]: ${message}`
  return new ToolFailedError('tool-failed', detail, { cause })
}

function toMessage(input: unknown): UserMessage {
  return { role: 'user', content: typeof input === 'string' ? input : JSON.stringify(input) }
}

/** One warning for each pair of agents in a run. */
function warnOfSameNames(parent: Run, { agent }: SubAgentCall): void {
  const names = Object.keys(agent.workspaces).filter((name) => parent.workspaces.access.has(name))
  if (names.length === 0 || parent.warnedSubAgents.has(agent.name)) return
  parent.warnedSubAgents.add(agent.name)
  for (const workspace of names) {
    parent.services.logger.warn(
      { workspace, subAgent: agent.name, agent: parent.agent.name, sessionId: parent.sessionId },
      logMessages.subAgentWorkspaceName,
    )
  }
}
