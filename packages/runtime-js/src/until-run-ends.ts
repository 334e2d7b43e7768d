import type { SessionState } from '@helix-agents/core'
import { readStream } from './read-stream.ts'
import type { RunServices } from './run/run-services.ts'

/**
 * Waits for the end of a run of another process: that of its stream, or that of its lease when
 * the process died and nobody took over.
 */
export async function untilRunEnds(services: RunServices, running: SessionState): Promise<void> {
  const isOver = new AbortController()
  const ends = [
    readToEnd(services, running.sessionId, isOver.signal),
    untilAbandoned(services, running, isOver.signal),
  ]
  try {
    await Promise.race(ends)
  } finally {
    isOver.abort()
    await Promise.allSettled(ends)
  }
}

async function readToEnd(
  services: RunServices,
  sessionId: string,
  signal: AbortSignal,
): Promise<void> {
  const chunks = readStream(services, sessionId, { signal })[Symbol.asyncIterator]()
  while (!(await chunks.next()).done);
}

async function untilAbandoned(
  { clock, stateStore }: RunServices,
  running: SessionState,
  signal: AbortSignal,
): Promise<void> {
  for (let session: SessionState | null = running; session?.status === 'running';) {
    const leftMs = (session.leaseUntil ?? 0) - clock.now()
    if (leftMs <= 0) return
    await clock.sleep(leftMs, signal)
    session = await stateStore.loadSession(running.sessionId)
  }
}
