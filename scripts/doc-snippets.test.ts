import { describe, expect, test } from 'vitest'
import { pagesWithSnippets, snippetsOf } from './doc-snippets.ts'
import { read } from './repository.ts'

const fence = (code: string): string => `# Page\n\n\`\`\`ts run\n${code}\n\`\`\`\n`
const bodyOf = (code: string): string => snippetsOf(fence(code))[0]?.body.trim() ?? ''

describe('snippetsOf', () => {
  test('finds the runnable fences only, with their lines', () => {
    const page = `${fence('a()')}\n\`\`\`ts\nshown()\n\`\`\`\n\n${fence('b()')}`
    expect(snippetsOf(page).map((snippet) => snippet.line)).toEqual([3, 13])
  })

  test('makes an assertion of what is printed and its result', () => {
    expect(bodyOf('console.log(await one()) // => 1')).toBe(';__expect(await one()).toEqual(1);')
    expect(bodyOf('console.log(\n  await one(2),\n) // => 1')).toBe(
      ';__expect(await one(2)).toEqual(1);',
    )
  })

  test('keeps the imports of a fence inside it, without their types', () => {
    expect(bodyOf("import { type A, b as c } from 'x'")).toBe("const {  b: c } = await import('x')")
    expect(bodyOf("import type { A } from 'x'")).toBe('')
    expect(bodyOf("import * as sdk from 'x'")).toBe("const sdk = await import('x')")
  })
})

test('the site has runnable pages', () => {
  expect(pagesWithSnippets('docs').length).toBeGreaterThan(8)
})

test('no fence of the site has a result that nothing prints', () => {
  const unprinted = pagesWithSnippets('docs').flatMap((page) =>
    snippetsOf(read(page))
      .filter(({ body }) => /\/\/ (?:=>|throws) /.test(body))
      .map(({ line }) => `${page}:${line}: write console.log(value) // => result`),
  )
  expect(unprinted).toEqual([])
})

test('every fence of the site that runs shows what it prints, and all of it', () => {
  const silent = pagesWithSnippets('docs').flatMap((page) =>
    snippetsOf(read(page))
      .filter(({ body }) => /console\.log\(/.test(body) || !body.includes('__expect('))
      .map(({ line }) => `${page}:${line}: write console.log(value) // => result`),
  )
  expect(silent).toEqual([])
})
