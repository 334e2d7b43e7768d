/**
 * Runs a callback of the application and does not wait for it. What it throws, at once or as the
 * rejection of its promise, goes to `onError`.
 */
export function runCallback(callback: () => unknown, onError: (error: unknown) => void): void {
  const run = async (): Promise<unknown> => callback()
  run().catch(onError)
}
