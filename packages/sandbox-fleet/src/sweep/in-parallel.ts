/** Runs `work` on each item in order, so many at once. After the first error none is started. */
export async function inParallel<T>(
  items: readonly T[],
  limit: number,
  work: (item: T, index: number) => Promise<void>,
): Promise<void> {
  let next = 0
  let hasFailed = false
  const worker = async (): Promise<void> => {
    while (next < items.length && !hasFailed) {
      const index = next
      next += 1
      const item = items[index]
      if (item === undefined) continue
      try {
        await work(item, index)
      } catch (error) {
        hasFailed = true
        throw error
      }
    }
  }
  const workers = Array.from({ length: Math.min(limit, items.length) }, worker)
  await Promise.allSettled(workers)
  await Promise.all(workers)
}
