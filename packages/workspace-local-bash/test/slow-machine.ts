// A machine so slow that each look at the time finds the share of the event loop used up.
import { onTestFinished, vi } from 'vitest'

/** For the rest of a test. */
export function useSlowMachine(): void {
  let ms = performance.now()
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => (ms += 10))
  onTestFinished(() => clock.mockRestore())
}

/** How often other work had its turn while something was done on it. */
export async function turnsDuring(run: () => Promise<unknown>): Promise<number> {
  useSlowMachine()
  let [turns, isOver] = [0, false]
  const count = (): void => {
    turns += 1
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  await run()
  isOver = true
  return turns
}

/** Lets faked timers fire until something is over. */
export async function untilOver<T>(running: Promise<T>): Promise<T> {
  const over = running.then(() => true)
  while (!(await Promise.race([over, vi.advanceTimersByTimeAsync(5).then(() => false)])));
  return running
}
