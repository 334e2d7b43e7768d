import { beforeEach, expect, test } from 'vitest'
import { drawBars } from '../../../src/dashboard/page/charts.ts'
import { openDocument } from './page.ts'

beforeEach(openDocument)

test('a chart has a bar and a label for each value, the largest as high as the chart', () => {
  const bars = [
    { label: 'a', value: 4 },
    { label: 'b', value: 1, isStuck: true },
    { label: '', value: 2, isStuck: false },
  ]
  const parts = drawBars({ bars, caption: 'four at most' }).outerHTML.replaceAll('><', '>\n<')
  expect(parts.split('\n')).toEqual([
    '<svg viewBox="0 0 480 140" role="img" aria-label="four at most">',
    '<rect x="12.8" y="8" width="134.4" height="108" class="mark">',
    '<title>a 4</title>',
    '</rect>',
    '<text x="80" text-anchor="middle" y="132">a</text>',
    '<rect x="172.8" y="89" width="134.4" height="27" class="mark stuck">',
    '<title>b 1</title>',
    '</rect>',
    '<text x="240" text-anchor="middle" y="132">b</text>',
    '<rect x="332.8" y="62" width="134.4" height="54" class="mark">',
    '<title>2</title>',
    '</rect>',
    '<line x1="0" x2="480" y1="116" y2="116" class="axis">',
    '</line>',
    '<text x="0" y="12">4</text>',
    '</svg>',
  ])
})

test('without any values the chart stays flat', () => {
  const chart = drawBars({ bars: [{ label: 'a', value: 0 }], caption: 'none' })
  expect(chart.querySelector('rect')?.getAttribute('height')).toBe('0')
  expect(chart.querySelector('svg > text:last-child')?.textContent).toBe('1')
})

test('a label at an edge begins or ends there, so that it is not cut off', () => {
  // A label takes 60 of 480: the middle of the outer ones of eight bars is just far enough in.
  expect(placesOf(8)).toEqual([30, 90, 150, 210, 270, 330, 390, 450].map((x) => `${x} middle`))
  expect(placesOf(10).slice(0, 2)).toEqual(['0 start', '72 middle'])
  expect(placesOf(10).slice(-2)).toEqual(['408 middle', '480 end'])
})

/** Where each label of a chart with so many bars begins. */
function placesOf(count: number): readonly string[] {
  const bars = Array.from({ length: count }, () => ({ label: 'a', value: 1 }))
  const labels = drawBars({ bars, caption: '' }).querySelectorAll('[text-anchor]')
  return Array.from(labels, (label) =>
    ['x', 'text-anchor'].map((name) => label.getAttribute(name)).join(' '),
  )
}
