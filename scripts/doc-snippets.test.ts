import { describe, expect, test } from 'vitest'
import { pagesWithSnippets, snippetsOf } from './doc-snippets.ts'

const fence = (code: string): string => `# Page\n\n\`\`\`ts run\n${code}\n\`\`\`\n`
const bodyOf = (code: string): string => snippetsOf(fence(code))[0]?.body.trim() ?? ''

describe('snippetsOf', () => {
  test('finds the runnable fences only, with their lines', () => {
    const page = `${fence('a()')}\n\`\`\`ts\nshown()\n\`\`\`\n\n${fence('b()')}`
    expect(snippetsOf(page).map((snippet) => snippet.line)).toEqual([3, 13])
  })

  test('makes an assertion of a value and its result', () => {
    expect(bodyOf('await one() // => 1')).toBe(';__expect(await one()).toEqual(1);')
  })

  test('makes an assertion of a call and its code', () => {
    const body = bodyOf("await read('/x') // throws not-found")
    expect(body).toContain("async () => read('/x')")
    expect(body).toContain("rejects.toMatchObject({ code: 'not-found' })")
  })

  test('keeps the imports of a fence inside it, without their types', () => {
    expect(bodyOf("import { type A, b as c } from 'x'")).toBe("const {  b: c } = await import('x')")
    expect(bodyOf("import * as sdk from 'x'")).toBe("const sdk = await import('x')")
  })
})

test('the site has runnable pages', () => {
  expect(pagesWithSnippets('docs').length).toBeGreaterThan(8)
})
