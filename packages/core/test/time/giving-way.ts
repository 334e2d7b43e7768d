import { expect, vi } from 'vitest'

/** Longer than any share of the event loop. */
const LONG_MS = 1000

/** What work gave, and how often it gave way to other work. */
export interface Course<Result> {
  readonly result: Result
  readonly pauses: number
}

/**
 * Runs work twice, on a clock by which each look at it ends a share of the event loop, and on one
 * that hardly moves. The results are the same; the first run goes on after each pause only, and the
 * second one never pauses.
 */
export async function givingWay<Result>(work: () => Promise<Result>): Promise<Course<Result>> {
  const slow = await runOnClock(LONG_MS, work)
  const quick = await runOnClock(0.0001, work)
  expect(quick).toEqual({ ...slow, pauses: 0 })
  return slow
}

async function runOnClock<Result>(
  stepMs: number,
  work: () => Promise<Result>,
): Promise<Course<Result>> {
  const course = { pauses: 0, waiting: 0, early: 0 }
  let nowMs = 0
  const now = vi.spyOn(performance, 'now').mockImplementation(() => {
    if (course.waiting > 0) course.early += 1
    nowMs += stepMs
    return nowMs
  })
  const startTurn = setImmediate
  vi.stubGlobal('setImmediate', (resume: () => void) => {
    course.pauses += 1
    course.waiting += 1
    startTurn(() => {
      course.waiting -= 1
      resume()
    })
  })
  try {
    const result = await work()
    expect(course).toMatchObject({ waiting: 0, early: 0 })
    return { result, pauses: course.pauses }
  } finally {
    now.mockRestore()
    vi.unstubAllGlobals()
  }
}
