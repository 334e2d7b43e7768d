/** One implementation of a task. */
export interface Contender {
  readonly name: string
  /** Does the task `times` times. */
  readonly run: (times: number) => Promise<void> | void
}

export interface Measurement {
  readonly name: string
  /** Median over the rounds. */
  readonly microseconds: number
}

export interface MeasureOptions {
  readonly rounds?: number
  /** Time one contender may take in one round. */
  readonly sampleMs?: number
  /** What the time is taken with, in microseconds. Default: the clock on the wall. */
  readonly clock?: () => number
}

const wallClock = (): number => Number(process.hrtime.bigint()) / 1000

/**
 * Times all contenders in one process, round-robin with a rotated order, so that noise of the
 * machine hits all of them alike; only ratios of one call are worth comparing.
 */
export async function measure(
  contenders: readonly Contender[],
  { rounds = 7, sampleMs = 100, clock = wallClock }: MeasureOptions = {},
): Promise<Measurement[]> {
  const times = new Map<Contender, number>()
  for (const contender of contenders) times.set(contender, await calibrate(contender, sampleMs))
  const samples = new Map<Contender, number[]>(contenders.map((contender) => [contender, []]))
  for (let round = 0; round < rounds; round++) {
    for (let i = 0; i < contenders.length; i++) {
      const contender = contenders[(i + round) % contenders.length]!
      samples.get(contender)!.push(await sample(contender, times.get(contender)!, clock))
    }
  }
  return contenders.map((contender) => ({
    name: contender.name,
    microseconds: median(samples.get(contender)!),
  }))
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

/** Warms up, and finds how often the task fits into a sample. */
async function calibrate(contender: Contender, sampleMs: number): Promise<number> {
  await contender.run(1)
  const once = await sample(contender, 1, wallClock)
  const warmUp = Math.max(1, Math.min(20_000, Math.floor((sampleMs * 3000) / once)))
  await contender.run(warmUp)
  const each = await sample(contender, Math.ceil(warmUp / 10), wallClock)
  return Math.max(1, Math.min(100_000, Math.floor((sampleMs * 1000) / each)))
}

/** Microseconds for one time. */
async function sample(contender: Contender, times: number, clock: () => number): Promise<number> {
  globalThis.gc?.()
  const start = clock()
  await contender.run(times)
  return (clock() - start) / times
}
