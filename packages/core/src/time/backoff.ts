const FIRST_DELAY_MS = 1_400
const MAX_DELAY_MS = 30_000

/**
 * How long to wait before a retry: doubling, spread by a quarter to both sides, so that many
 * sessions do not come back at the same moment. The first three add up to about 10 s.
 * @param retry counts from 0.
 * @param random gives numbers in [0, 1).
 * @returns milliseconds
 */
export function backoffMs(retry: number, random: () => number): number {
  const delayMs = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** retry)
  return Math.round(delayMs * (0.75 + random() / 2))
}
