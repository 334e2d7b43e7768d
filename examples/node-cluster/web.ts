// The web front: takes turns, and shows the cluster. It runs no agent itself.
import type { Server } from 'node:http'
import { once } from 'node:events'
import { createAdaptorServer } from '@hono/node-server'
import type { SessionState, SessionStateStore } from '@helix-agents/core/runtime'
import { openPostgresStores } from '@helix-agents/store-postgres'
import { openTurnQueue, QueueError, type TurnQueue } from '@helix-agents/worker-postgres'
import { Hono } from 'hono'
import * as z from 'zod'
import { type ClusterView, type SessionRow, pageOf } from './cluster-page.ts'
import { type Effects, openEffects } from './effects.ts'
import { readSettings } from './settings.ts'

export interface WebFront {
  readonly url: string
  close(): Promise<void>
}

interface Parts {
  readonly stateStore: SessionStateStore
  readonly queue: TurnQueue
  readonly effects: Effects
}

/** Workers that were silent for longer look dead. */
const SILENT_MS = 3000
const SHOWN_SESSIONS = 200

const turnSchema = z.object({
  message: z.string().min(1),
  sessionId: z.string().optional(),
  tenant: z.string().optional(),
  priority: z.number().int().optional(),
})

if (import.meta.main) {
  const { url } = await startWeb(process.env)
  process.stdout.write(`listening on ${url}\n`)
}

export async function startWeb(
  env: Readonly<Record<string, string | undefined>>,
): Promise<WebFront> {
  const { databaseUrl, host, port } = readSettings(env)
  const stores = await openPostgresStores(databaseUrl)
  const queue = await openTurnQueue({ connectionString: databaseUrl, listen: false })
  const effects = await openEffects(databaseUrl, 'web')
  const app = createApp({ stateStore: stores.stateStore, queue, effects })
  const server = createAdaptorServer({ fetch: app.fetch, overrideGlobalObjects: false }) as Server
  server.listen(port, host)
  await once(server, 'listening')
  const address = server.address()
  const taken = typeof address === 'object' && address !== null ? address.port : port
  const close = async (): Promise<void> => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    await queue.close()
    await effects.close()
    await stores.close()
  }
  return { url: `http://${host}:${taken}`, close }
}

function createApp(parts: Parts): Hono {
  const { queue } = parts
  const app = new Hono()
  app.onError((error, context) => {
    const isBad = QueueError.isInstance(error) && error.code === 'invalid-turn'
    return context.json({ error: isBad ? error.message : 'internal' }, isBad ? 400 : 500)
  })

  app.post('/turns', async (context) => {
    const body = turnSchema.safeParse(await context.req.json().catch(() => undefined))
    if (!body.success) return context.json({ error: z.prettifyError(body.error) }, 400)
    const { message, sessionId, tenant, priority } = body.data
    const turn = await queue.enqueue({ name: 'clerk' }, message, {
      ...(sessionId !== undefined && { sessionId }),
      ...(tenant !== undefined && { tenant }),
      ...(priority !== undefined && { priority }),
    })
    return context.json(turn, 202)
  })

  app.get('/healthz', async (context) => {
    const workers = await queue.workers()
    const alive = workers.filter(({ silentMs }) => silentMs < SILENT_MS)
    const status = alive.length > 0 ? 200 : 503
    return context.json({ workers: alive.length, queue: await queue.stats() }, status)
  })

  app.get('/cluster', async (context) => context.json(await describeCluster(parts)))
  app.get('/', async (context) => context.html(pageOf(await describeCluster(parts))))
  return app
}

async function describeCluster({ stateStore, queue, effects }: Parts): Promise<ClusterView> {
  const [workers, stats, page, { attempts, files, restored, bySession }] = await Promise.all([
    queue.workers(),
    queue.stats(),
    stateStore.listSessions({ limit: SHOWN_SESSIONS }),
    effects.summary(),
  ])
  const machines = new Map(
    workers
      .filter(({ silentMs }) => silentMs < SILENT_MS)
      .flatMap(({ machine, sessions }) => sessions.map((id) => [id, machine] as const)),
  )
  const homes = await queue.homes(page.items.map(({ sessionId }) => sessionId))
  const staysWith = new Map(
    homes.filter(({ isAlive }) => isAlive).map((home) => [home.sessionId, home.machine]),
  )
  const toRow = ({ sessionId, status }: SessionState): SessionRow => ({
    sessionId,
    status,
    machine: machines.get(sessionId) ?? '',
    staysWith: staysWith.get(sessionId) ?? '',
    steps: bySession.get(sessionId) ?? {},
  })
  return { workers, queue: stats, attempts, files, restored, sessions: page.items.map(toRow) }
}
