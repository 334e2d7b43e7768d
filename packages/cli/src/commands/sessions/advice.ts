import type { SessionStatus } from '@helix-agents/core'
import type { SessionReport } from './read-session.ts'
import { openCalls, owedWorkspaces } from './session-facts.ts'

const BY_STATUS: Readonly<Record<SessionStatus, (id: string) => string>> = {
  idle: (id) => `It had no run yet: executor.execute(agent, message, { sessionId: ${id} }).`,
  running: (id) =>
    'A process runs it, or died while it did. If it died: when its lease is over (a minute by ' +
    `default), executor.resume(agent, ${id}) goes on after the last finished step.`,
  interrupted: (id) => `It is paused: executor.resume(agent, ${id}).`,
  completed: (id) =>
    `It takes a further message: executor.execute(agent, message, { sessionId: ${id} }).`,
  failed: (id) =>
    `executor.resume(agent, ${id}) tries again from the last finished step; its files are kept.`,
  aborted: (id) =>
    'It is not resumed. Its conversation can go on in a new session: ' +
    `executor.branch(agent, { fromSessionId: ${id} }).`,
}

/** What an operator can do about a session. */
export function adviceFor({ session, journal }: SessionReport): readonly string[] {
  const unknown = session.status === 'running' ? 0 : openCalls(journal).length
  const owed = owedWorkspaces(session)
  return [
    BY_STATUS[session.status](JSON.stringify(session.sessionId)),
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
            '`helix reap` removes local-bash directories; for others ask the provider.',
        ]),
  ]
}
