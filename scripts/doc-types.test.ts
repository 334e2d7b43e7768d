import { expect, test } from 'vitest'
import { docFences, typeErrorsOf } from './doc-types.ts'

test('the fences of the docs compile, and one that does not is named by its page and line', () => {
  const fences = docFences()
  expect(fences.length).toBeGreaterThan(50)
  const wrong = { page: 'page.md', line: 7, code: "import 'node:fs'\nconst a: number = 'a'\n" }
  const errors = typeErrorsOf([...fences, wrong])
  expect(errors).toEqual([expect.stringMatching(/^page\.md:8 error TS2322/)])
}, 120_000)
