import type { Bars } from './bars.ts'
import { shape } from './elements.ts'

const WIDTH = 480
const HEIGHT = 140
const BASE = 116
const TOP = 8
const LABEL_WIDTH = 60

/** A label in the middle of its bar; at an edge of the chart it would be cut off there. */
function placeOf(index: number, count: number): { x: number; 'text-anchor': string } {
  const step = WIDTH / count
  const middle = (index + 0.5) * step
  if (middle < LABEL_WIDTH / 2) return { x: 0, 'text-anchor': 'start' }
  if (middle > WIDTH - LABEL_WIDTH / 2) return { x: WIDTH, 'text-anchor': 'end' }
  return { x: middle, 'text-anchor': 'middle' }
}

/** A chart; its caption is what it is called. */
export function drawBars({ bars, caption }: Bars): SVGElement {
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
