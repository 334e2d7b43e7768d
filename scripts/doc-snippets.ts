import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Plugin, transformWithOxc } from 'vite'

const fencePattern = /^```ts run\n(?<code>[\s\S]*?)^```$/gm
const importPattern = /^import (?<names>(?:type )?\{[^}]*\}|\* as \w+) from '(?<from>[^']+)'$/gm
/** `console.log(value) // => expected`, where the comment may go on in the next lines. */
const resultPattern =
  /^ *console\.log\((?<value>[^\n]*|\n(?: {2,}[^\n]*\n)+ *)\) *\/\/ => (?<expected>.+(?:\n\s*\/\/ {4,}.+)*)$/gm

interface Snippet {
  /** Where the fence starts; names the test. */
  readonly line: number
  /** The program as it is printed. */
  readonly code: string
  /** The same as the body of a test. */
  readonly body: string
}

/** Pages of a folder that hold at least one runnable fence. */
export function pagesWithSnippets(folder: string): string[] {
  const root = join(import.meta.dirname, '..')
  return globSync(`${folder}/**/*.md`, { cwd: root, exclude: ['**/node_modules/**'] })
    .filter((page) => snippetsOf(readFileSync(join(root, page), 'utf8')).length > 0)
    .toSorted()
}

/**
 * Loads a Markdown page as a test file, one test for each `ts run` fence. In a fence,
 * `console.log(value) // => expected` asserts equality.
 */
export function docSnippets(): Plugin {
  return {
    name: 'doc-snippets',
    enforce: 'pre',
    async load(id) {
      const [file = id] = id.split('?')
      if (!file.endsWith('.md')) return null
      const tests = renderTests(snippetsOf(readFileSync(file, 'utf8')))
      // Without its types, since the rest of the pipeline takes the page for JavaScript.
      return transformWithOxc(tests, `${file}.ts`, { lang: 'ts' })
    },
  }
}

/** The runnable fences of a page, in order. */
export function snippetsOf(markdown: string): Snippet[] {
  return [...markdown.matchAll(fencePattern)].map((match) => {
    const code = match.groups?.code ?? ''
    return {
      line: markdown.slice(0, match.index).split('\n').length,
      code,
      body: code.replace(importPattern, renderImport).replace(resultPattern, renderResult),
    }
  })
}

function renderTests(snippets: readonly Snippet[]): string {
  const tests = snippets.map(
    ({ line, body }) => `__test('the example in line ${line}', async () => {\n${body}\n})`,
  )
  return ["import { expect as __expect, test as __test } from 'vitest'", ...tests].join('\n')
}

/** Each fence has its imports for itself, since two may import the same name. */
function renderImport(_: string, names: string, from: string): string {
  if (names.startsWith('type ')) return ''
  const namespace = /^\* as (\w+)$/.exec(names.trim())?.[1]
  const values = names.replaceAll(/\btype \w+,?/g, '').replaceAll(' as ', ': ')
  return `const ${namespace ?? values} = await import('${from}')`
}

function renderResult(_: string, value: string, expected: string): string {
  const data = expected.replaceAll(/\n\s*\/\//g, '\n')
  return `;__expect(${value.trim().replace(/,$/, '')}).toEqual(${data});`
}
