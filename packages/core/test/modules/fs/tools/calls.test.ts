// What a model reads of calls, and what a person sees before them, over one set of files.
import { expect, test } from 'vitest'
import { renderToolError, toToolError } from '../../../../src/errors/to-tool-error.ts'
import { ToolBench } from '../tool-bench.ts'

const FILES: Readonly<Record<string, string | Uint8Array>> = {
  '/empty': '',
  '/open': 'one\ntwo',
  '/windows': 'a\r\nb\r\nc\r\n',
  '/marked': '\uFEFFone\n',
  '/odd': 'a\rb\n\uFEFFc\n',
  '/ten': Array.from({ length: 10 }, (_, index) => `line ${index + 1}\n`).join(''),
  '/long': `${'x'.repeat(1999)}\u{1F600}y\r\n${'z'.repeat(2000)}\nlast`,
  '/d/a.ts': 'import a\nfoo\nbar\nfoo\n\nbaz\n',
  '/d/b.ts': 'foo\n',
  '/d/e/c.md': '# foo\n',
  '/bytes': new Uint8Array([1, 0, 2]),
  '/latin': new Uint8Array([0xe9, 0x0a]),
}

type Call = readonly [tool: string, input: object]

const READING: readonly Call[] = [
  ...Object.keys(FILES).map((path): Call => ['read_file', { path }]),
  ['read_file', { path: '/ten', offset: 0 }],
  ['read_file', { path: '/ten', offset: 9 }],
  ['read_file', { path: '/ten', offset: 10, limit: 5 }],
  ['read_file', { path: '/ten', offset: 11 }],
  ['read_file', { path: '/ten', limit: 3 }],
  ['read_file', { path: '/long', column: 2000 }],
  ['read_file', { path: '/long', offset: 2, column: 1999 }],
  ['read_file', { path: '/d' }],
  ['ls', {}],
  ['ls', { path: '' }],
  ['ls', { path: '/d' }],
  ['ls', { path: '/d', offset: 2 }],
  ['ls', { path: '/d', offset: 4 }],
  ['ls', { path: '/none' }],
  ['glob', { pattern: '**/*.ts' }],
  ['glob', { pattern: '*.md', path: '/d/e' }],
  ['glob', { pattern: '*.txt' }],
  ['glob', { pattern: '**', offset: 5 }],
  ['glob', { pattern: '**', offset: 99 }],
  ['glob', { pattern: '*/' }],
  ['glob', { pattern: 'x/', path: '/d' }],
  ['grep', { pattern: 'foo' }],
  ['grep', { pattern: 'FOO', opts: { ignoreCase: true, path: '/d/e' } }],
  ['grep', { pattern: 'foo', opts: { context: 1, path: '/d/a.ts' } }],
  ['grep', { pattern: 'ba.', opts: { context: 2, includeGlob: '*.ts' } }],
  ['grep', { pattern: 'foo', opts: { maxResults: 2 } }],
  ['grep', { pattern: 'foo', opts: { maxResults: 4 } }],
  ['grep', { pattern: 'foo', opts: { maxResults: 1, offset: 2, path: '/d/a.ts' } }],
  ['grep', { pattern: 'foo', opts: { maxResults: 0 } }],
  ['grep', { pattern: 'foo', opts: { offset: 9 } }],
  ['grep', { pattern: 'b.*', opts: { mode: 'literal' } }],
  ['grep', { pattern: 'x+', opts: { path: '/long' } }],
  ['grep', { pattern: '\\r', opts: { path: '/d' } }],
  ['grep', { pattern: '(' }],
  ['stat', { path: '/d' }],
  ['stat', { path: '/none' }],
]

const WRITING: readonly Call[] = [
  ['write_file', { path: 'new', content: 'é\n' }],
  ['write_file', { path: '/open', content: 'one\n2\n' }],
  ['append_file', { path: '/open', content: '3' }],
  ['append_file', { path: '/new', content: '' }],
  ['append_file', { path: '/latin', content: 'x' }],
  ['edit_file', { path: '/windows', oldText: 'a\nb', newText: 'A\nB' }],
  ['edit_file', { path: '/ten', oldText: 'line 1', newText: 'LINE' }],
  ['edit_file', { path: '/ten', oldText: 'line', newText: 'LINE', replaceAll: true }],
  ['edit_file', { path: '/latin', oldText: 'a', newText: 'b' }],
  ['edit_file', { path: '/none', oldText: 'a', newText: 'b' }],
  ['multi_edit', { path: '/open', edits: [{ oldText: 'one', newText: '1' }] }],
  [
    'multi_edit',
    {
      path: '/ten',
      edits: [
        { oldText: 'line 9\n', newText: '' },
        { oldText: 'line 2\nline 3', newText: '2' },
        { oldText: 'line 5', newText: '5\r\n5' },
      ],
    },
  ],
  [
    'multi_edit',
    {
      path: '/ten',
      edits: [
        { oldText: 'line 4', newText: 'x' },
        { oldText: 'y', newText: 'z' },
      ],
    },
  ],
  ['apply_patch', { patch: '--- a/open\n+++ b/open\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n' }],
  [
    'apply_patch',
    {
      patch:
        'diff --git a/ten b/eleven\nrename from ten\nrename to eleven\n--- a/ten\n+++ b/eleven\n@@ -1 +1 @@\n-line 1\n+1\n--- /dev/null\n+++ b/made\n@@ -0,0 +1 @@\n+x\n--- a/marked\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n',
    },
  ],
  [
    'apply_patch',
    { patch: '*** Begin Patch\n*** Delete File: bytes\n*** Delete File: open\n*** End Patch\n' },
  ],
  ['copy', { from: '/open', to: '/copied' }],
  ['copy', { from: '/d', to: '/open' }],
  ['move', { from: '/d', to: '/moved' }],
  ['move', { from: '/open', to: '/ten' }],
  ['move', { from: '/none', to: '/x' }],
  ['mkdir', { path: 'made' }],
  ['rm', { path: '/open' }],
  ['rm', { path: '/d', opts: { recursive: true } }],
  ['rm', { path: '/none' }],
]

async function benchWithFiles(): Promise<ToolBench> {
  const bench = new ToolBench({ extended: true })
  for (const [path, data] of Object.entries(FILES)) await bench.fs.writeFile(path, data)
  return bench
}

const told = async (text: Promise<string>): Promise<string> =>
  text.catch((error: unknown) => renderToolError(toToolError(error)))

const titleOf = ([tool, input]: Call): string => `## ${tool} ${JSON.stringify(input)}`

/** Long runs of one letter are told by their length. */
const short = (text: string): string =>
  text.replace(/(x|z)\1{20,}/g, (run) => `[${run.length} times ${run[0]}]`)

test('the result of each call, word for word', async () => {
  const texts: string[] = []
  for (const call of [...READING, ...WRITING]) {
    const bench = await benchWithFiles()
    const before = bench.fs.all()
    const result = await told(bench.show(...call))
    const after = bench.fs.all()
    const paths = [...new Set([...Object.keys(before), ...Object.keys(after)])]
    const changed = paths.filter((path) => before[path] !== after[path])
    const state = changed.map((path) => `${path}: ${JSON.stringify(after[path])}\n`)
    texts.push(`${titleOf(call)}\n${short(result)}\n${state.join('')}`)
  }
  await expect(texts.join('\n')).toMatchFileSnapshot('call-results.txt')
})

test('the preview of each change, word for word', async () => {
  const texts: string[] = []
  for (const call of WRITING) {
    const bench = await benchWithFiles()
    const before = bench.fs.all()
    const preview = bench.preview(...call)
    const text = await told(
      preview.then((shown) => {
        const { body = '', ...rest } = shown ?? { title: '' }
        return `${JSON.stringify(rest)}\n${body}`
      }),
    )
    expect(bench.fs.all()).toEqual(before)
    texts.push(`${titleOf(call)}\n${text}\n`)
  }
  await expect(texts.join('\n')).toMatchFileSnapshot('call-previews.txt')
})
