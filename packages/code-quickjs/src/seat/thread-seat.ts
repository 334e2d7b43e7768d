import { systemClock, WorkspaceFailedError } from '@helix-agents/core'
import type { FileCall, SessionOutcome, SessionRequest } from '../protocol.ts'
import type { Seat, SeatHost } from './seat.ts'
import type { FromThread, ToThread } from './thread-messages.ts'
import type { PooledThread, ThreadPool } from './thread-pool.ts'

/** How long an interpreter may take to notice that its run is over, before its thread is ended. */
const GRACE_MS = 250
/** A thread whose session held more is not used again. */
const REUSABLE_BYTES = 24 * 1024 * 1024

type Ending = NonNullable<SessionOutcome['ended']>

/** Runs code in a thread: nothing that code does holds up the thread of the host. */
export class ThreadSeat implements Seat {
  readonly #pool: ThreadPool
  #thread: PooledThread | undefined
  #isReusable = true
  #stop: ((ending: Ending) => void) | undefined
  #isEnded = false

  constructor(pool: ThreadPool) {
    this.#pool = pool
  }

  async run(request: SessionRequest, host: SeatHost): Promise<SessionOutcome> {
    this.#thread ??= await this.#pool.take()
    const thread = this.#thread
    let ended: SessionOutcome['ended'] = 'crashed'
    try {
      if (this.#isEnded) return { ended: 'aborted' }
      thread.worker.ref()
      const outcome = await this.#supervise(thread, request, host)
      ended = outcome.ended
      return outcome
    } finally {
      thread.worker.unref()
      if (ended !== undefined) this.#isReusable = false
      if (ended !== undefined || this.#isEnded) this.#giveBack()
    }
  }

  end(): void {
    this.#isEnded = true
    if (this.#stop === undefined) this.#giveBack()
    else this.#stop('aborted')
  }

  async #supervise(
    thread: PooledThread,
    request: SessionRequest,
    host: SeatHost,
  ): Promise<SessionOutcome> {
    const done = Promise.withResolvers<SessionOutcome>()
    let ending: Ending | undefined
    let cancelKill: (() => void) | undefined
    this.#stop = (reason) => {
      if (ending !== undefined) return
      ending = reason
      Atomics.store(thread.abort, 0, 1)
      cancelKill = systemClock.setTimer(GRACE_MS, () => done.resolve({ ended: reason }))
    }
    const stopWatching = this.#watch(thread, host, done)
    const cancelTimeout = systemClock.setTimer(request.timeoutMs, () => this.#stop?.('timeout'))
    Atomics.store(thread.abort, 0, 0)
    this.#post(thread, { type: 'run', request })
    if (host.signal?.aborted) this.#stop('aborted')
    try {
      const outcome = await done.promise
      // The interpreter only knows that it is to stop.
      return outcome.ended === 'aborted' ? { ended: ending ?? 'aborted' } : outcome
    } finally {
      this.#stop = undefined
      cancelTimeout()
      cancelKill?.()
      stopWatching()
    }
  }

  #watch(
    thread: PooledThread,
    host: SeatHost,
    done: PromiseWithResolvers<SessionOutcome>,
  ): () => void {
    const { worker } = thread
    const onMessage = (message: FromThread): void => this.#receive(thread, message, host, done)
    const onExit = (): void => done.resolve(CRASHED)
    const onAbort = (): void => this.#stop?.('aborted')
    host.signal?.addEventListener('abort', onAbort, { once: true })
    const onError = (error: Error): void => done.reject(failedThread(error))
    worker.on('message', onMessage).once('exit', onExit).on('error', onError)
    return () => {
      host.signal?.removeEventListener('abort', onAbort)
      worker.off('message', onMessage).off('exit', onExit).off('error', onError)
    }
  }

  #receive(
    thread: PooledThread,
    message: FromThread,
    host: SeatHost,
    done: PromiseWithResolvers<SessionOutcome>,
  ): void {
    if (message.type === 'outputs') host.onOutputs(message.outputs)
    else if (message.type === 'call') void this.#call(thread, message, host, done)
    else if (message.type === 'done') {
      if (message.heldBytes > REUSABLE_BYTES) this.#isReusable = false
      done.resolve(message.outcome)
    }
  }

  async #call(
    thread: PooledThread,
    { id, call }: { readonly id: number; readonly call: FileCall },
    host: SeatHost,
    done: PromiseWithResolvers<SessionOutcome>,
  ): Promise<void> {
    try {
      const reply = await host.callFile(call)
      this.#post(thread, { type: 'reply', id, reply })
    } catch (error) {
      done.reject(error)
    }
  }

  #post(thread: PooledThread, message: ToThread): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
    thread.worker.postMessage(message)
  }

  #giveBack(): void {
    const thread = this.#thread
    this.#thread = undefined
    if (thread === undefined) return
    if (this.#isReusable) this.#pool.release(thread)
    else this.#pool.discard(thread)
  }
}

const CRASHED: SessionOutcome = {
  ended: 'crashed',
  error: {
    name: 'InternalError',
    message: 'the interpreter ended with the code; its context is gone',
  },
}

function failedThread(cause: Error): WorkspaceFailedError {
  return new WorkspaceFailedError('provider-failed', 'the thread of the interpreter failed', {
    cause,
  })
}
