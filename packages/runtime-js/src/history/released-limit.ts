import { type Agent, WorkspaceFailedError } from '@helix-agents/core'
import type { SessionState } from '@helix-agents/core/runtime'
import type { RunServices } from '../ports.ts'
import { collect } from './collect.ts'
import { tryCollect } from './release-workspaces.ts'

/**
 * Backends and branches that a session may have left behind. Each is one that exists, or may exist; a
 * collection frees them. Past it nothing new is made before some of them are gone.
 */
export const MAX_RELEASED = 1_000

type Session = Pick<SessionState, 'sessionId' | 'agentType'>

/**
 * Before something is made that a failure would leave behind. The caller holds the session.
 * @throws {WorkspaceFailedError} `provider-failed`: what was left before cannot be freed.
 */
export function assertReleasedOfHeld(
  services: RunServices,
  agent: Agent,
  session: Session,
): Promise<void> {
  return assertFewReleased(services, session, () => collect(services, agent, { session }))
}

/**
 * The same where nobody has to hold the session.
 * @param agent Absent: nothing is freed here, but by the next run.
 * @throws {WorkspaceFailedError} `provider-failed`
 */
export function assertReleased(
  services: RunServices,
  agent: Agent | undefined,
  session: Session,
): Promise<void> {
  return assertFewReleased(services, session, async () => {
    if (agent !== undefined) await tryCollect(services, agent, session)
  })
}

async function assertFewReleased(
  { stateStore }: RunServices,
  { sessionId }: Session,
  free: () => Promise<unknown>,
): Promise<void> {
  const count = async (): Promise<number> =>
    (await stateStore.loadHistory(sessionId)).released.length
  if ((await count()) < MAX_RELEASED) return
  await free()
  const left = await count()
  if (left < MAX_RELEASED) return
  const problem = `the session has left ${left} workspaces and branches behind that could not be freed`
  throw new WorkspaceFailedError('provider-failed', problem, {
    transient: true,
    hint: 'The log says why; `releaseWorkspaces` frees them once their providers answer.',
  })
}
