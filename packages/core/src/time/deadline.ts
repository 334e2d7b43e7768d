import type { Clock } from './clock.ts'

/** A time limit and the error of the call that exceeds it. */
export interface Deadline {
  readonly clock: Clock
  readonly timeoutMs: number
  /** Makes the error of the rejection; called once, at the deadline. */
  readonly onTimeout: () => Error
}

/**
 * Settles as `promise` does, or rejects at the deadline, for which a process stays alive. The
 * promise itself continues: the caller that started the work also ends it.
 */
export async function withDeadline<T>(promise: Promise<T>, deadline: Deadline): Promise<T> {
  const overrun = Promise.withResolvers<never>()
  const onTime = (): void => overrun.reject(deadline.onTimeout())
  const cancel = deadline.clock.setTimer(deadline.timeoutMs, onTime, { keepsProcessAlive: true })
  try {
    return await Promise.race([promise, overrun.promise])
  } finally {
    cancel()
  }
}
