// What `helix worker worker.ts` runs.
import type { Logger } from '@helix-agents/core'
import { JSAgentExecutor } from '@helix-agents/runtime-js'
import { openPostgresStores } from '@helix-agents/store-postgres'
import { createWorker, openTurnQueue, type Worker } from '@helix-agents/worker-postgres'
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
  const { databaseUrl, machine, leaseMs, concurrency, turnsPerTenant } = readSettings(process.env)
  const [stores, queue, effects] = await Promise.all([
    openPostgresStores(databaseUrl),
    openTurnQueue({ connectionString: databaseUrl, logger }),
    openEffects(databaseUrl, machine),
  ])
  const { stateStore, streamManager } = stores
  const executor = new JSAgentExecutor(stateStore, streamManager, scriptedModel, {
    leaseMs,
    logger,
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
