import type { WireSandbox } from '../../http/wire.ts'
import { shape } from './elements.ts'
import { formatMinutes } from './format.ts'

const WIDTH = 480
const HEIGHT = 140
const BASE = 116
const TOP = 8
const LABEL_WIDTH = 60

interface Bar {
  readonly label: string
  readonly value: number
  readonly isStuck?: boolean
}

/** A chart and what it says in words. */
export interface Chart {
  readonly picture: SVGElement
  readonly caption: string
}

/** Minutes at which the bars of the age histogram end. */
const AGE_STEPS = [1, 2, 5, 10, 30, 120, Number.POSITIVE_INFINITY]
const STUCK_MINUTES = 10
const WINDOW_MINUTES = 60

/** How old the active sandboxes are. */
export function drawAges(sandboxes: readonly WireSandbox[]): Chart {
  const ages = sandboxes.filter(isActive).map((sandbox) => sandbox.age_minutes)
  const bars = AGE_STEPS.map((end, index) => {
    const start = AGE_STEPS[index - 1] ?? 0
    const label = Number.isFinite(end) ? `≤ ${formatMinutes(end)}` : `> ${formatMinutes(start)}`
    const value = ages.filter((age) => age > start && age <= end).length
    return { label, value, isStuck: start >= STUCK_MINUTES }
  })
  const first = { ...bars[0], value: ages.filter((age) => age <= (AGE_STEPS[0] ?? 0)).length }
  const old = ages.filter((age) => age > STUCK_MINUTES).length
  const caption =
    ages.length === 0
      ? 'None is active.'
      : `${ages.length} active, ${old} older than ${STUCK_MINUTES} min; the oldest is ${formatMinutes(Math.max(...ages))} old.`
  return { picture: draw([{ label: '', ...first }, ...bars.slice(1)], caption), caption }
}

/** How many were active in each of the last minutes, from when each was made and ended. */
export function drawActivity(sandboxes: readonly WireSandbox[], nowMs: number): Chart {
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
  const caption = `${now} now, ${most} at most.`
  return { picture: draw(bars, caption), caption }
}

export function isActive(sandbox: WireSandbox): boolean {
  return sandbox.status !== 'terminated'
}

/** A label in the middle of its bar; at an edge of the chart it would be cut off there. */
function placeOf(index: number, count: number): { x: number; 'text-anchor': string } {
  const step = WIDTH / count
  const middle = (index + 0.5) * step
  if (middle < LABEL_WIDTH / 2) return { x: 0, 'text-anchor': 'start' }
  if (middle > WIDTH - LABEL_WIDTH / 2) return { x: WIDTH, 'text-anchor': 'end' }
  return { x: middle, 'text-anchor': 'middle' }
}

function draw(bars: readonly Bar[], caption: string): SVGElement {
  const most = Math.max(1, ...bars.map((bar) => bar.value))
  const step = WIDTH / bars.length
  const parts = bars.flatMap((bar, index) => {
    const height = ((BASE - TOP) * bar.value) / most
    const x = index * step
    const mark = shape(
      'rect',
      {
        x: x + step * 0.08,
        y: BASE - height,
        width: step * 0.84,
        height,
        class: bar.isStuck === true ? 'mark stuck' : 'mark',
      },
      shape('title', {}, `${bar.label} ${bar.value}`.trim()),
    )
    const label = shape('text', { ...placeOf(index, bars.length), y: BASE + 16 }, bar.label)
    return bar.label === '' ? [mark] : [mark, label]
  })
  return shape(
    'svg',
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img', 'aria-label': caption },
    ...parts,
    shape('line', { x1: 0, x2: WIDTH, y1: BASE, y2: BASE, class: 'axis' }),
    shape('text', { x: 0, y: TOP + 4 }, String(most)),
  )
}
