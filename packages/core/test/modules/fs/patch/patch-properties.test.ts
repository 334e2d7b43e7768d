import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { TestSampler } from '@helix-agents/core/testing'
import { createTwoFilesPatch } from 'diff'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ToolBench } from '../tool-bench.ts'

const sampler = new TestSampler()

const line = fc.constantFrom(
  '',
  'a',
  'b',
  'c',
  '  a',
  '}',
  '{',
  '-- a',
  '++ b',
  '@@ x',
  '*** a',
  '\\ n',
  'é',
  'a ',
)
const lines = fc.array(line, { maxLength: 30 })
const ends = fc.constantFrom('\n', '\r\n')
const change = fc.record({
  at: fc.nat(30),
  remove: fc.nat(3),
  add: fc.array(line, { maxLength: 3 }),
})

/** Two texts of which the second one is an edited first one. */
const pairs = fc
  .record({
    old: lines,
    changes: fc.array(change, { minLength: 1, maxLength: 4 }),
    end: ends,
    oldIsOpen: fc.boolean(),
    newIsOpen: fc.boolean(),
    hasMark: fc.boolean(),
  })
  .map(({ old, changes, end, oldIsOpen, newIsOpen, hasMark }) => {
    const now = [...old]
    for (const { at, remove, add } of changes) now.splice(at, remove, ...add)
    const text = (list: string[], isOpen: boolean) =>
      (hasMark ? '\uFEFF' : '') + list.join(end) + (isOpen || list.length === 0 ? '' : end)
    return { a: text(old, oldIsOpen), b: text(now, newIsOpen) }
  })
  .filter(({ a, b }) => a !== b)

async function apply(files: Record<string, string>, patch: string) {
  const bench = new ToolBench({ extended: true })
  for (const [path, text] of Object.entries(files)) await bench.fs.writeFile(path, text)
  return { code: await bench.code('apply_patch', { patch }), files: bench.fs.all() }
}

describe('a diff of a and b, applied to a', () => {
  it('gives b', async () => {
    await fc.assert(
      fc.asyncProperty(pairs, fc.constantFrom(0, 1, 3, 5), async ({ a, b }, context) => {
        const patch = createTwoFilesPatch('a/f', 'b/f', a, b, undefined, undefined, { context })
        expect(await apply({ '/f': a }, patch)).toEqual({ code: 'ok', files: { '/f': b } })
      }),
      { numRuns: 1500 },
    )
  })

  it('gives b or refuses when one line of it is another', async () => {
    await fc.assert(
      fc.asyncProperty(pairs, fc.nat(), line, async ({ a, b }, which, other) => {
        const patch = createTwoFilesPatch('a/f', 'b/f', a, b, undefined, undefined, { context: 3 })
        const all = patch.split('\n')
        const context = all.flatMap((text, i) => (text.startsWith(' ') ? [i] : []))
        fc.pre(context.length > 0)
        const at = context[which % context.length] ?? 0
        fc.pre(all[at]?.replace(/\r$/, '') !== ` ${other}`)
        all[at] = ` ${other}`
        const { code, files } = await apply({ '/f': a, '/g': 'g' }, all.join('\n'))
        // The place may be found by what is left; then all of the change is there.
        const isWhole = code === 'ok' && files['/f']?.length === b.length
        expect([code, files['/f'] === a || isWhole]).toEqual([code, true])
        expect(code === 'ok' ? 'patch-failed' : code).toBe('patch-failed')
      }),
      { numRuns: 1000 },
    )
  })

  it('is refused as a whole when a line stands in it that is none of it', async () => {
    const stray = fc.constantFrom('words', '...', '*** Else', '```', 'diff', '<<<<<<< HEAD', '\t+a')
    await fc.assert(
      fc.asyncProperty(pairs, pairs, fc.nat(), stray, async (one, two, which, text) => {
        const patch =
          createTwoFilesPatch('a/f', 'b/f', one.a, one.b, '', '', { context: 3 }) +
          createTwoFilesPatch('a/g', 'b/g', two.a, two.b, '', '', { context: 3 })
        const all = patch.replace(/\n$/, '').split('\n')
        // A fence may stand around a patch.
        all.splice(1 + (which % (all.length - 1)), 0, text)
        const files = { '/f': one.a, '/g': two.a }
        expect(await apply(files, all.join('\n'))).toEqual({ code: 'patch-failed', files })
      }),
      { numRuns: 1000 },
    )
  })

  it('never gives b when one of its changes is left out', async () => {
    await fc.assert(
      fc.asyncProperty(pairs, fc.nat(), async ({ a, b }, which) => {
        const patch = createTwoFilesPatch('a/f', 'b/f', a, b, undefined, undefined, { context: 3 })
        const all = patch.split('\n')
        const changed = all.flatMap((text, i) => (i > 2 && /^[+-]/.test(text) ? [i] : []))
        all.splice(changed[which % changed.length] ?? 0, 1)
        const { files } = await apply({ '/f': a }, all.join('\n'))
        expect(files['/f']).not.toBe(b)
      }),
      { numRuns: 1000 },
    )
  })

  it('is refused as a whole when one of its files is', async () => {
    await fc.assert(
      fc.asyncProperty(pairs, pairs, async (one, two) => {
        const patch =
          createTwoFilesPatch('a/f', 'b/f', one.a, one.b, '', '', { context: 3 }) +
          createTwoFilesPatch('a/g', 'b/g', two.a, two.b, '', '', { context: 3 })
        const files = { '/f': one.a, '/g': 'other\n'.repeat(40) }
        const { code, files: after } = await apply(files, patch)
        fc.pre(code !== 'ok')
        expect(after).toEqual(files)
      }),
      { numRuns: 300 },
    )
  })
})

const FRAGMENTS = [
  '--- a/f',
  '+++ b/f',
  '--- /dev/null',
  '+++ /dev/null',
  '--- a/g',
  '+++ b/g',
  '--- "a/f"',
  '@@',
  '@@ -1,2 +1,2 @@',
  '@@ -2 +2 @@',
  '@@ -0,0 +1 @@',
  '@@ class A:',
  '@@ -9 +9 @@\r',
  ' a',
  '-a',
  '+b',
  '+a',
  '-b',
  ' b',
  '',
  ' ',
  '\\ No newline at end of file',
  '+\uFEFFa',
  '-a\r',
  '*** Begin Patch',
  '*** End Patch',
  '*** Update File: f',
  '*** Add File: n',
  '*** Delete File: g',
  '*** Move to: m',
  '*** End of File',
  '```',
  '-- ',
  '2.4',
  'Index: f',
  'diff --git a/f b/f',
  'rename from f',
  'rename to h',
  'copy from f',
  'copy to k',
  'new file mode 100644',
  'deleted file mode 100644',
  '='.repeat(30),
  '--- a/f\t2024',
]

describe('lines of patches in any order', () => {
  it('are applied, or refused in words with nothing changed', async () => {
    const patches = fc.array(fc.constantFrom(...FRAGMENTS), { maxLength: 14 })
    const files = { '/f': 'a\nb\na\n', '/g': 'a\nb' }
    await fc.assert(
      fc.asyncProperty(patches, async (list) => {
        const { code, files: after } = await apply(files, `${list.join('\n')}\n`)
        expect(code === 'ok' ? files : after).toEqual(files)
      }),
      { numRuns: sampler.size(20_000, 1000), seed: sampler.seedOf('lines') },
    )
  })
})

const hasGit = spawnSync('git', ['--version']).status === 0

describe('a diff of git', () => {
  it(
    'changes, makes, removes, renames and copies as git did',
    { timeout: 120_000 },
    async ({ skip }) => {
      skip(!hasGit, 'git is not installed')
      const seed = sampler.seedOf('diffs')
      const sample = fc.sample(pairs, { numRuns: 120, seed })
      const root = mkdtempSync(join(tmpdir(), 'helix-patch-'))
      try {
        const { before, after, patch } = gitDiff(root, sample)
        expect(await apply(before, patch)).toEqual({ code: 'ok', files: after })
      } finally {
        rmSync(root, { recursive: true, force: true })
      }
    },
  )
})

const NAMES = ['plain', 'with blank', 'quote"d', 'ümläut', 'a/in a', 'b/x', 'deep/er/still']

const nameOf = (i: number) => `/${NAMES[i % NAMES.length]}-${i}`

function gitDiff(root: string, sample: readonly { readonly a: string; readonly b: string }[]) {
  const git = (...args: string[]) =>
    execFileSync(
      'git',
      ['-c', 'core.autocrlf=false', '-c', 'user.name=t', '-c', 'user.email=t@t', ...args],
      {
        cwd: root,
        env: { PATH: process.env['PATH'] ?? '', HOME: root, GIT_CONFIG_NOSYSTEM: '1' },
        maxBuffer: 50_000_000,
      },
    ).toString()
  const before: Record<string, string> = {}
  const after: Record<string, string> = {}
  const put = (files: Record<string, string>, path: string, text: string) => {
    files[path] = text
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  git('init', '-q')
  for (const [i, { a }] of sample.entries()) if (i % 6 !== 1) put(before, nameOf(i), a)
  const long = Array.from({ length: 40 }, (_, i) => `line ${i}\n`).join('')
  put(before, '/moved/from', `moved\n${long}`)
  put(before, '/copied', `copied\n${long}`)
  put(before, '/empty gone', '')
  git('add', '-A')
  git('commit', '-qm', 'a')
  for (const [i, { a, b }] of sample.entries()) {
    if (i % 6 === 0) rmSync(join(root, nameOf(i)))
    else put(after, nameOf(i), i % 6 === 1 ? a : b)
  }
  rmSync(join(root, '/moved/from'))
  rmSync(join(root, '/empty gone'))
  put(after, '/moved/to here', `moved\n${long}more\n`)
  put(after, '/copy', `copied\n${long}`)
  put(after, '/copied', `copied\n${long}changed\n`)
  put(after, '/empty new', '')
  git('add', '-A')
  const patch = git('diff', '--cached', '-M60%', '-C60%', '--text')
  for (const path of Object.keys(after)) after[path] = readFileSync(join(root, path), 'utf8')
  return { before, after, patch }
}
