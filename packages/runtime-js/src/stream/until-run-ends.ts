import type { SessionState } from '@helix-agents/core/runtime'
import { readStream } from './read-stream.ts'
import type { RunServices } from '../ports.ts'

/** Pause before the next check of a run whose stream has not started. */
const PAUSE_MS = 100

/**
 * Waits for the end of a run of another process: that of its stream, or that of its lease when
 * the process died and none took over. A run that has just begun starts its stream a moment
 * later: until then that is the ended one of the run before.
 */
export async function untilRunEnds(services: RunServices, running: SessionState): Promise<void> {
  const { clock, stateStore } = services
  const { sessionId } = running
  const position: Position = { next: undefined }
  for (let session: SessionState | null = running; isRunning(services, session);) {
    await untilOneEnds(services, session, position)
    session = await stateStore.loadSession(sessionId)
    if (isRunning(services, session)) await clock.sleep(PAUSE_MS)
  }
}

/** Which chunk of the stream comes next; the start of the run at first. */
interface Position {
  next: number | undefined
}

async function untilOneEnds(
  services: RunServices,
  running: SessionState,
  position: Position,
): Promise<void> {
  const isOver = new AbortController()
  const ends = [
    readToEnd(services, running.sessionId, { position, signal: isOver.signal }),
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
  { position, signal }: { readonly position: Position; readonly signal: AbortSignal },
): Promise<void> {
  const from = position.next === undefined ? {} : { fromSequence: position.next }
  const chunks = readStream(services, sessionId, { ...from, signal })
  for await (const { sequence } of chunks) position.next = sequence + 1
}

async function untilAbandoned(
  services: RunServices,
  running: SessionState,
  signal: AbortSignal,
): Promise<void> {
  const { clock, stateStore } = services
  for (let session: SessionState | null = running; isRunning(services, session);) {
    await clock.sleep(session.leaseUntil - clock.now(), signal)
    session = await stateStore.loadSession(running.sessionId)
  }
}

/** Whether a process has a lease for a run. */
function isRunning(
  { clock }: RunServices,
  session: SessionState | null,
): session is SessionState & { readonly leaseUntil: number } {
  return session?.status === 'running' && clock.now() < (session.leaseUntil ?? 0)
}
