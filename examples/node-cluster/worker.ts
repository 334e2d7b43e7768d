// What `helix worker worker.ts` runs.
import type { Logger } from '@helix-agents/core'
import { JSAgentExecutor } from '@helix-agents/runtime-js'
import { portableSnapshots } from '@helix-agents/core/provider'
import { openPostgresStores } from '@helix-agents/store-postgres'
import { createWorker, openTurnQueue, type Worker } from '@helix-agents/worker-postgres'
import { LocalBashWorkspaceProvider } from '@helix-agents/workspace-local-bash'
import { createAgent } from './agent.ts'
import { openEffects } from './effects.ts'
import { scriptedModel } from './scripted-model.ts'
import { readSettings } from './settings.ts'

const log =
  (level: string) =>
  (fields: object, message?: string): void =>
    void process.stdout.write(`${JSON.stringify({ level, message, ...fields })}\n`)
const logger: Logger = {
  debug: () => undefined,
  info: log('info'),
  warn: log('warn'),
  error: log('error'),
}

export async function openWorker(): Promise<{ worker: Worker; close: () => Promise<void> }> {
  const settings = readSettings(process.env)
  const { databaseUrl, machine, leaseMs, concurrency, turnsPerTenant } = settings
  const [stores, queue, effects] = await Promise.all([
    openPostgresStores(databaseUrl),
    openTurnQueue({ connectionString: databaseUrl, logger }),
    openEffects(databaseUrl, machine),
  ])
  const { stateStore, streamManager, snapshotStore } = stores
  // Files are on this machine; what each step leaves of them is in the database, for all machines.
  const files = new LocalBashWorkspaceProvider({ tmpdirRoot: settings.files })
  const executor = new JSAgentExecutor(stateStore, streamManager, scriptedModel, {
    leaseMs,
    logger,
    lifecycle: {
      onOpen: ({ session, receipt }) => {
        if (receipt.outcome !== 'restored') return
        effects.noteRestored(session.sessionId).catch((err: unknown) => {
          logger.warn({ err }, 'restored workspace not counted')
        })
      },
    },
    workspaceProviders: [portableSnapshots(files, { store: snapshotStore })],
  })
  const agents = [createAgent(effects)]
  const searchMs = Math.ceil(leaseMs / 2)
  const limits = { concurrency, turnsPerTenant, heartbeatMs: 500, searchMs }
  const worker = createWorker(executor, { queue, stateStore, agents, machine, logger, ...limits })
  const close = async (): Promise<void> => {
    await queue.close()
    await effects.close()
    await stores.close()
  }
  return { worker, close }
}
