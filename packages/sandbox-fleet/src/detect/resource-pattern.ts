import type { ResourceSample } from '../ledger/sandbox-record.ts'

const LEAST_SAMPLES = 3
const LEAST_SPAN_MS = 60_000
const BUSY_PERCENT = 90
const QUIET_PERCENT = 1
const GROWTH_RATIO = 1.5
const GROWTH_MB = 64

export type ResourcePattern = 'busy-loop' | 'hang' | 'memory-growth'

/**
 * What the samples of a sandbox have in common, if there are enough: always busy, always quiet, or
 * ever more memory. One busy or quiet moment says nothing.
 */
export function resourcePatterns(samples: readonly ResourceSample[]): readonly ResourcePattern[] {
  const first = samples[0]
  const last = samples.at(-1)
  if (first === undefined || last === undefined || samples.length < LEAST_SAMPLES) return []
  if (last.at - first.at < LEAST_SPAN_MS) return []
  const patterns: ResourcePattern[] = []
  if (samples.every(({ cpuPercent }) => cpuPercent >= BUSY_PERCENT)) patterns.push('busy-loop')
  if (samples.every(({ cpuPercent }) => cpuPercent <= QUIET_PERCENT)) patterns.push('hang')
  if (grows(samples, first, last)) patterns.push('memory-growth')
  return patterns
}

function grows(
  samples: readonly ResourceSample[],
  first: ResourceSample,
  last: ResourceSample,
): boolean {
  const neverShrinks = samples.every(({ memoryMb }, at) => {
    const before = samples[at - 1]
    return before === undefined || memoryMb >= before.memoryMb
  })
  const isMuch = last.memoryMb - first.memoryMb >= GROWTH_MB
  return neverShrinks && isMuch && last.memoryMb >= first.memoryMb * GROWTH_RATIO
}
