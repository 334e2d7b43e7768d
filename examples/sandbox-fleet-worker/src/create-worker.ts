import { type Clock, systemClock } from '@helix-agents/core'
import { createFleetApp } from '@helix-agents/sandbox-fleet'
import { Hono } from 'hono'
import { timingSafeEqual } from 'hono/utils/buffer'
import type { Env } from './env.ts'
import { fleetOf } from './fleet-of.ts'
import { runTask } from './run-task.ts'
import { logger } from './logger.ts'

export interface WorkerOptions {
  readonly clock?: Clock
  /** Requests of this machine need no token. */
  readonly insecureAllowLocal?: boolean
}

/** The Worker: tasks in sandboxes, and the fleet that watches them. */
export function createWorker(options: WorkerOptions = {}) {
  const { clock = systemClock, insecureAllowLocal = false } = options
  const app = new Hono<{ Bindings: Env }>()
  app.use('/tasks/*', async (context, next) => {
    const given = context.req.header('authorization') ?? ''
    if (await timingSafeEqual(given, `Bearer ${tokenOf(context.env)}`)) return next()
    const message = 'the token is missing or wrong'
    return context.json({ error: { code: 'unauthorized', message } }, 401)
  })
  app.post('/tasks/:id', async ({ env, req, text }) => {
    const output = await runTask(env, fleetOf(env, clock), {
      id: req.param('id'),
      agentType: req.query('agent') ?? 'any',
      command: await req.text(),
      isForgotten: req.query('forgotten') !== undefined,
    })
    return text(output)
  })
  app.route(
    '/',
    createFleetApp<Env>({
      fleet: (env) => fleetOf(env, clock),
      adminToken: tokenOf,
      insecureAllowLocal,
      clock,
      logger,
    }),
  )
  return {
    fetch: app.fetch,
    // Awaited: a pass that was cut off is gone on with, but five minutes later.
    scheduled: async (_: ScheduledController, env: Env): Promise<void> => {
      await fleetOf(env, clock).tick()
    },
  } satisfies ExportedHandler<Env>
}

function tokenOf({ FLEET_TOKEN: token }: Env): string {
  return token
}
