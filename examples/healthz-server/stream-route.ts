import { createServerSentEventsResponse, parseLastEventId } from '@helix-agents/core/runtime'
import type { AgentHandle } from '@helix-agents/runtime-js'
import type { Hono } from 'hono'
import type { AppParts } from './app.ts'
import { findSession, handleOf } from './session-routes.ts'
import type { StreamPlaces } from './stream-places.ts'

/** The chunks of a run as they are written. A client that reconnects continues after its last event. */
export function addStreamRoute(app: Hono, parts: AppParts, places: StreamPlaces): void {
  const callerOf = parts.callerOf ?? (() => 'everyone')
  app.get('/sessions/:id/stream', async (context) => {
    const { sessionId, status } = await findSession(parts, context.req.param('id'))
    const handle = await handleOf(parts, sessionId)
    const fromSequence = parseLastEventId(context.req.header('Last-Event-ID'))
    const from = fromSequence !== undefined && { fromSequence }
    // Browsers come back whenever a response ends, until a response says that there is no more.
    const isBack = fromSequence !== undefined && status !== 'running'
    if (isBack && (await hasEnded(handle, fromSequence, context.req.raw.signal))) {
      return context.body(null, 204)
    }
    const onEnd = places.take(callerOf(context))
    return createServerSentEventsResponse((signal) => handle.stream({ ...from, signal }), {
      signal: parts.closing,
      onEnd,
    })
  })
}

async function hasEnded(
  handle: AgentHandle,
  fromSequence: number,
  signal: AbortSignal,
): Promise<boolean> {
  for await (const _ of handle.stream({ fromSequence, signal })) return false
  return true
}
