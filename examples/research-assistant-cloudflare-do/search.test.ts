import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { search } from './src/search.ts'

const folder = join(import.meta.dirname, 'src/documents')
const documents = readdirSync(folder).map((name) => {
  const text = readFileSync(join(folder, name), 'utf8')
  return { id: name.replace('.md', ''), title: text.slice(2, text.indexOf('\n')), text }
})
const ids = (query: string, limit = 4): readonly string[] =>
  search(documents, query, limit).map(({ id }) => id)

test('the document that is about a word comes first', () => {
  expect(ids('seals')[0]).toBe('seal-monitoring')
  expect(ids('Breakwater?')[0]).toBe('breakwater-works')
})

test('a hit shows the sentence that fits', () => {
  const [hit] = search(documents, 'divers', 4)
  expect(hit).toEqual({
    id: 'fouling-inspection-2034',
    title: 'Inspection for fouling, March 2034',
    sentence: 'Divers looked at every blade of the array.',
  })
})

test('words that no document has find nothing, and a limit is kept', () => {
  expect(ids('xylophone')).toEqual([])
  expect(ids('')).toEqual([])
  expect(ids('row array current', 2)).toHaveLength(2)
})

test('documents of one worth have an order', () => {
  expect(ids('row C', 12)).toEqual(ids('row C', 12))
})
