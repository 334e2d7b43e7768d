import { beforeEach, expect, test } from 'vitest'
import { byId, element, shape } from '../../../src/dashboard/page/elements.ts'
import { openDocument } from './page.ts'

beforeEach(openDocument)

test('an element of the page is found by its id, when it is of the kind that is wanted', () => {
  expect(byId('token', HTMLInputElement).id).toBe('token')
  expect(() => byId('token', HTMLDialogElement)).toThrow('the page has no HTMLDialogElement #token')
  expect(() => byId('nothing', HTMLElement)).toThrow('the page has no HTMLElement #nothing')
})

test('text is text, never markup, and what is undefined is left out', () => {
  const made = element('p', { class: 'a', title: undefined }, '<b>', undefined, element('br'))
  expect(made.outerHTML).toBe('<p class="a">&lt;b&gt;<br></p>')
  expect(element('p').outerHTML).toBe('<p></p>')
})

test('shapes are elements of SVG', () => {
  const made = shape('rect', { x: 1.5, class: 'a' }, shape('title', {}, '<b>'), 'c')
  expect(made.outerHTML).toBe('<rect x="1.5" class="a"><title>&lt;b&gt;</title>c</rect>')
  expect([made.namespaceURI, shape('svg').outerHTML]).toEqual([
    'http://www.w3.org/2000/svg',
    '<svg></svg>',
  ])
})
