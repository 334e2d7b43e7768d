import { type Clock, systemClock } from '@helix-agents/core'
import { analyticsSink, Fleet, logAlertSink } from '@helix-agents/sandbox-fleet'
import { remoteFleetStore } from '@helix-agents/sandbox-fleet/cloudflare'
import type { Env } from './env.ts'
import { TaskSandboxDriver } from './task-sandbox-driver.ts'
import { logger } from './logger.ts'

/** The fleet of this deployment. It keeps nothing itself: one for each request is cheap. */
export function fleetOf(env: Env, clock: Clock = systemClock): Fleet {
  const events = env.EVENTS === undefined ? undefined : analyticsSink(env.EVENTS)
  return new Fleet({
    store: remoteFleetStore(env.FLEET.getByName('fleet')),
    drivers: [new TaskSandboxDriver(env)],
    environment: env.ENVIRONMENT,
    logger,
    clock,
    alertSinks: [logAlertSink(logger), ...(events === undefined ? [] : [events])],
    ...(events !== undefined && { onEvent: events.onEvent }),
  })
}
