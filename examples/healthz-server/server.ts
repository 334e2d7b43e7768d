// Starts the server; ends it on SIGTERM or SIGINT with the files of every session kept.
import type { Server } from 'node:http'
import { mkdirSync } from 'node:fs'
import { constants } from 'node:os'
import { join } from 'node:path'
import { createAdaptorServer } from '@hono/node-server'
import { getConnInfo } from '@hono/node-server/conninfo'
import type { Logger } from '@helix-agents/core'
import { JSAgentExecutor } from '@helix-agents/runtime-js'
import {
  LocalBashWorkspaceProvider,
  reapLocalBashTmpdirs,
} from '@helix-agents/workspace-local-bash'
import { agent } from './agent.ts'
import { createApp } from './app.ts'
import { createObservability } from './observability.ts'
import { keepRecovering } from './keep-recovering.ts'
import { scriptedModel } from './scripted-model.ts'
import { readSettings, type Settings } from './settings.ts'
import { openStores } from './stores.ts'

const HEADERS_TIMEOUT_MS = 15_000
const WEEK_MS = 7 * 24 * 3_600_000

export interface RunningServer {
  readonly port: number
  readonly logger: Logger
  /** Lets every run stop where it can be resumed, then resolves. */
  readonly stop: () => Promise<void>
}

if (import.meta.main) {
  const server = await startServer(readSettings(process.env))
  stopOnSignals(server)
}

export async function startServer(settings: Settings): Promise<RunningServer> {
  const { leaseMs, shutdownMs, folder, token } = settings
  const { logger, metrics, page } = createObservability()
  const stores = await openStores(folder)
  const { stateStore, streamManager } = stores
  const tmpdirRoot = workspacesIn(folder)
  const executor = new JSAgentExecutor(stateStore, streamManager, scriptedModel, {
    workspaceProviders: [new LocalBashWorkspaceProvider({ tmpdirRoot })],
    leaseMs,
    logger,
    metrics,
  })
  const closing = new AbortController()
  const app = createApp({
    agent,
    executor,
    stateStore,
    logger,
    metrics: page,
    closing: closing.signal,
    // Behind a proxy this is the address of the proxy: take the header that yours sets instead.
    callerOf: (context) => getConnInfo(context).remote.address ?? 'unknown',
    ...(token !== undefined && { token }),
  })
  // A session that is resumed now may not have opened its workspace yet: long unused ones only.
  await reapLocalBashTmpdirs({ tmpdirRoot, logger, graceMs: WEEK_MS, detachedGraceMs: WEEK_MS })
  const stopRecovery = await keepRecovering({ agent, executor, stateStore, logger }, leaseMs)
  const server = createAdaptorServer({ fetch: app.fetch, overrideGlobalObjects: false }) as Server
  // Of the headers; `bodyTimeoutMs` is for bodies.
  server.headersTimeout = HEADERS_TIMEOUT_MS
  const port = await listen(server, settings)
  logger.info({ host: settings.host, port }, 'listening')
  const stop = async (): Promise<void> => {
    closing.abort()
    stopRecovery()
    const closed = new Promise((resolve) => server.close(resolve))
    await executor.shutdown({ timeoutMs: shutdownMs })
    server.closeAllConnections()
    await closed
    await stores.close()
  }
  return { port, logger, stop }
}

function workspacesIn(folder: string): string {
  const path = join(folder, 'workspaces')
  mkdirSync(path, { recursive: true })
  return path
}

function listen(server: Server, { port, host }: Settings): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      const address = server.address()
      resolve(typeof address === 'object' && address !== null ? address.port : port)
    })
  })
}

/** The first signal lets runs stop in order, a second one ends the process at once. */
function stopOnSignals({ stop, logger }: RunningServer): void {
  let isStopping = false
  const onSignal = (signal: 'SIGTERM' | 'SIGINT'): void => {
    if (isStopping) process.exit(128 + constants.signals[signal])
    isStopping = true
    logger.info({ signal }, 'stopping')
    stop().then(
      () => process.exit(0),
      (err: unknown) => {
        logger.error({ err }, 'stopped in disorder')
        process.exit(1)
      },
    )
  }
  process.on('SIGTERM', onSignal)
  process.on('SIGINT', onSignal)
}
