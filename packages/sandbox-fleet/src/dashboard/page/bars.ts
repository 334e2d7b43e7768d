// The numbers of the charts.
import type { WireSandbox } from '../../http/wire.ts'
import { isActive } from './facts.ts'
import { formatMinutes } from './format.ts'

export interface Bar {
  readonly label: string
  readonly value: number
  readonly isStuck?: boolean
}

/** The bars of a chart, and what they say in words. */
export interface Bars {
  readonly bars: readonly Bar[]
  readonly caption: string
}

/** Minutes at which the bars of the age histogram end. */
const AGE_STEPS = [1, 2, 5, 10, 30, 120, Number.POSITIVE_INFINITY]
const STUCK_MINUTES = 10
const WINDOW_MINUTES = 60

/** How old the active sandboxes are. */
export function ageBars(sandboxes: readonly WireSandbox[]): Bars {
  // One that was made by a clock that is ahead is as good as new.
  const ages = sandboxes.filter(isActive).map(({ age_minutes: age }) => Math.max(0, age))
  const bars = AGE_STEPS.map((end, index) => {
    const start = AGE_STEPS[index - 1] ?? -1
    const label = Number.isFinite(end) ? `≤ ${formatMinutes(end)}` : `> ${formatMinutes(start)}`
    const value = ages.filter((age) => age > start && age <= end).length
    return { label, value, isStuck: start >= STUCK_MINUTES }
  })
  const old = ages.filter((age) => age > STUCK_MINUTES).length
  const caption =
    ages.length === 0
      ? 'None is active.'
      : `${ages.length} active, ${old} older than ${STUCK_MINUTES} min; the oldest is ${formatMinutes(Math.max(...ages))} old.`
  return { bars, caption }
}

/** How many were active in each of the last minutes, from when each was made and ended. */
export function activityBars(sandboxes: readonly WireSandbox[], nowMs: number): Bars {
  const spans = sandboxes.map((sandbox) => ({
    from: Date.parse(sandbox.created_at),
    until: isActive(sandbox) ? Number.POSITIVE_INFINITY : Date.parse(sandbox.status_since),
  }))
  const bars = Array.from({ length: WINDOW_MINUTES }, (_, index) => {
    const ago = WINDOW_MINUTES - 1 - index
    const at = nowMs - ago * 60_000
    const value = spans.filter((span) => span.from <= at && span.until > at).length
    return { label: ago % 15 === 14 ? `−${ago + 1} min` : '', value }
  })
  const now = bars.at(-1)?.value ?? 0
  const most = Math.max(...bars.map((bar) => bar.value))
  return { bars, caption: `${now} now, ${most} at most.` }
}
