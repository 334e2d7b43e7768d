import type { SessionState } from '@helix-agents/core/runtime'
import { endStream } from './end-stream.ts'
import type { RunServices } from '../ports.ts'

/** A live process ends the stream of its run well within this time after storing the end. */
const GRACE_MS = 2000
const FIRST_CHECK_MS = 2000
const MAX_CHECK_MS = 16_000

/**
 * Watches the session of a stream for one reader. The process of the last run may have died after
 * it stored how the run ended, and before it ended the stream: readers would wait for ever.
 * So the stream is ended with what is stored; where that cannot be written, as through a store that
 * is only read, the reader alone ends.
 */
export class SessionWatch {
  readonly #services: RunServices
  readonly #sessionId: string
  readonly #stop = new AbortController()
  #cancelTimer: (() => void) | undefined
  #delayMs = FIRST_CHECK_MS
  #isReleased = false
  /** The stream of the run with this id was ended. */
  #endedRun: string | undefined
  /** Chunks that the reader got, and whether it waits for another one. */
  #received = 0
  #isWaiting = false
  #receivedAtLastCheck = -1

  constructor(services: RunServices, sessionId: string) {
    this.#services = services
    this.#sessionId = sessionId
  }

  /** Aborts when the reader has nothing to wait for any more. */
  get signal(): AbortSignal {
    return this.#stop.signal
  }

  /** Checks the session now, and again at growing intervals. Never rejects. */
  async check(): Promise<void> {
    if (this.#isReleased) return
    try {
      await this.#checkOnce()
    } catch (err) {
      this.#warn(err)
    }
    if (this.#isReleased || this.#stop.signal.aborted) return
    this.#cancelTimer = this.#services.clock.setTimer(this.#delayMs, () => void this.check())
    this.#delayMs = Math.min(MAX_CHECK_MS, this.#delayMs * 2)
  }

  /** The reader waits for its next chunk; call the result once it has received it. */
  wait(): () => void {
    this.#isWaiting = true
    return () => {
      this.#isWaiting = false
      this.#received += 1
    }
  }

  release(): void {
    this.#isReleased = true
    this.#cancelTimer?.()
  }

  async #checkOnce(): Promise<void> {
    const { active, stateStore, clock } = this.#services
    if (active.get(this.#sessionId) !== undefined) return
    const session = await stateStore.loadSession(this.#sessionId)
    if (session === null || session.runId === undefined || session.status === 'running') return
    if (clock.now() - session.updatedAt < GRACE_MS) return
    if (this.#endedRun !== session.runId) await this.#endStream(session)
  }

  async #endStream(session: SessionState): Promise<void> {
    try {
      await endStream(this.#services, session)
      this.#endedRun = session.runId
    } catch (err) {
      this.#warn(err)
      // One that still reads what is there is not cut off.
      if (this.#isWaiting && this.#received === this.#receivedAtLastCheck) this.#stop.abort()
      this.#receivedAtLastCheck = this.#received
    }
  }

  #warn(err: unknown): void {
    const { logger } = this.#services
    logger.warn({ err, sessionId: this.#sessionId }, 'abandoned stream not ended')
  }
}
