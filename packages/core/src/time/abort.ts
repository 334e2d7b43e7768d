/**
 * Settles as `promise` does, or rejects with the reason of `signal` as soon as that aborts.
 * The promise itself continues: other callers may await it.
 */
export function untilAborted<T>(promise: Promise<T>, signal?: AbortSignal): Promise<T> {
  if (signal === undefined) return promise
  return new Promise((resolve, reject) => {
    const leave = (): void => reject(signal.reason)
    const settleWith = (settle: () => void): void => {
      signal.removeEventListener('abort', leave)
      settle()
    }
    promise.then(
      (value) => settleWith(() => resolve(value)),
      (error: unknown) => settleWith(() => reject(error)),
    )
    if (signal.aborted) leave()
    else signal.addEventListener('abort', leave, { once: true })
  })
}

/** Resolves when the promise has settled, however. For waiting where others handle the error. */
export async function settled(promise: Promise<unknown> | undefined): Promise<void> {
  if (promise !== undefined) await Promise.allSettled([promise])
}
