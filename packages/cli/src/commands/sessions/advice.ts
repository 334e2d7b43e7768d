import type { SessionState, SessionStatus } from '@helix-agents/core/runtime'
import { toAgeText, toDurationText } from '../../output/duration-text.ts'
import type { SessionReport } from './read-session.ts'
import { isHeld, openCalls, owedWorkspaces } from './session-facts.ts'

type Advice = (id: string, session: SessionState, now: number) => string

const BY_STATUS: Readonly<Record<SessionStatus, Advice>> = {
  idle: (id) => `It had no run yet: executor.execute(agent, message, { sessionId: ${id} }).`,
  running: ofRunning,
  interrupted: (id, { error }) =>
    error?.code === 'shutdown'
      ? `Its process was shut down: executor.resume(agent, ${id}).`
      : `It is paused: executor.resume(agent, ${id}).`,
  waiting: (id) =>
    `A call waits for a person: helix approvals list --session ${id} names it, and ` +
    `executor.respond(agent, ${id}, requestId, { decision: 'approve' }) or helix approvals ` +
    'approve answers it.',
  completed: (id) =>
    `It takes a further message: executor.execute(agent, message, { sessionId: ${id} }).`,
  failed: (id) =>
    `executor.resume(agent, ${id}) tries again from the last finished step; its files are kept.`,
  aborted: (id) =>
    `It is not resumed. A new turn is executor.execute(agent, message, { sessionId: ${id} }); its ` +
    `conversation can continue in a branch: executor.branch(agent, { fromSessionId: ${id} }).`,
}

/** What an operator can do about a session. */
export function adviceFor({ session, journal }: SessionReport, now: number): readonly string[] {
  const unknown = isHeld(session, now) ? 0 : openCalls(journal).length
  const owed = owedWorkspaces(session)
  const id = JSON.stringify(session.sessionId)
  return [
    BY_STATUS[session.status](id, session, now),
    ...(session.outcome === undefined || session.status !== 'running'
      ? []
      : [`Its last step decided the outcome already: ${session.outcome.status}.`]),
    ...(unknown === 0
      ? []
      : [
          `Calls without a result: ${unknown}. They are not repeated, and the model is told ` +
            'that their outcome is unknown.',
        ]),
    ...(owed.length === 0
      ? []
      : [
          `The close of ${owed.join(', ')} did not finish, so storage may be left. ` +
            `(await executor.getHandle(agent, ${id}))?.abort() tries again.`,
        ]),
  ]
}

/** A living process renews its lease, so an expired one is that of a dead process. */
function ofRunning(id: string, session: SessionState, now: number): string {
  const { leaseUntil } = session
  const resume = `executor.resume(agent, ${id}) continues after the last finished step`
  if (leaseUntil !== undefined && isHeld(session, now)) {
    return (
      `A process holds it for another ${toDurationText(leaseUntil - now)}, and renews that while ` +
      `it lives. If it died: when that time is over, ${resume}.`
    )
  }
  const since = leaseUntil === undefined ? '' : `: its lease ran out ${toAgeText(leaseUntil, now)}`
  return `Its process died${since}. ${resume}.`
}
