/** Runs `work` on each item in order, so many at once. After the first error none is started. */
export async function inParallel<T>(
  items: readonly T[],
  limit: number,
  work: (item: T, index: number) => Promise<void>,
): Promise<void> {
  const rest = items.entries()
  let hasFailed = false
  const worker = async (): Promise<void> => {
    // All workers share the iterator: each takes the next item that is left.
    for (const [index, item] of rest) {
      if (hasFailed) return
      try {
        await work(item, index)
      } catch (error) {
        hasFailed = true
        throw error
      }
    }
  }
  const workers = items.slice(0, limit).map(worker)
  await Promise.allSettled(workers)
  await Promise.all(workers)
}
