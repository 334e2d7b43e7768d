import { expect, test } from 'vitest'
import { docFences, typeErrorsOf } from './doc-types.ts'

test('the fences of the docs compile', () => {
  const fences = docFences()
  expect(fences.length).toBeGreaterThan(50)
  expect(typeErrorsOf(fences)).toEqual([])
}, 60_000)

test('a fence that does not compile is named by its page and line', () => {
  const fences = [{ page: 'page.md', line: 7, code: "import 'node:fs'\nconst a: number = 'a'\n" }]
  expect(typeErrorsOf(fences)).toEqual([expect.stringMatching(/^page\.md:8 error TS2322/)])
}, 60_000)
