import type { Agent } from '@helix-agents/core'
import { logMessages } from '@helix-agents/core/provider'
import { collect, type CollectReport, GRACE_MS } from './collect.ts'
import { removeImportRecord } from './import/import-record.ts'
import { holdSession } from '../lease/hold-session.ts'
import type { RunServices } from '../ports.ts'
import { loadOwnSession } from '../session/load-own-session.ts'
import type { ReleaseOptions } from '../executor/executor-options.ts'

/** Frees what a session that does not run has let go. */
export async function releaseWorkspaces(
  services: RunServices,
  agent: Agent,
  { sessionId, graceMs = GRACE_MS }: ReleaseOptions & { readonly sessionId: string },
): Promise<CollectReport> {
  await loadOwnSession(services, agent, sessionId)
  const { report } = await holdSession(services, sessionId, {
    work: async ({ session }) => ({
      report: await collect(services, agent, { session, graceMs }),
      isRemoved: await removeImportRecord(services, session, graceMs),
    }),
    end: ({ isRemoved }, before) => (isRemoved ? null : before),
  })
  return report
}

/** After a switch has happened: what could not be collected is left to the next collection. */
export async function tryCollect(
  services: RunServices,
  agent: Agent,
  given: ReleaseOptions & { readonly sessionId: string },
): Promise<void> {
  try {
    await releaseWorkspaces(services, agent, given)
  } catch (err) {
    const { sessionId } = given
    services.logger.warn({ err, sessionId }, logMessages.historyNotCollected)
  }
}
