// The Worker for a machine of your own: its clock can be put forward, and it wants no token for the
// fleet. Never deploy it.
import { type Clock, systemClock } from '@helix-agents/core'
import { createWorker } from './create-worker.ts'
import type { Env } from './env.ts'

export { FleetDirectory } from '@helix-agents/sandbox-fleet/cloudflare'
export { TaskSandbox } from './task-sandbox.ts'

let aheadMs = 0
const clock: Clock = { ...systemClock, now: () => systemClock.now() + aheadMs }
const worker = createWorker({ clock, insecureAllowLocal: true })

// oxlint-disable-next-line import/no-default-export -- what workerd starts
export default {
  ...worker,
  fetch: (request, env, context) => {
    const { pathname, searchParams } = new URL(request.url)
    if (pathname !== '/local/later') return worker.fetch(request, env, context)
    aheadMs += Number(searchParams.get('minutes')) * 60_000
    return new Response(null, { status: 204 })
  },
} satisfies ExportedHandler<Env>
