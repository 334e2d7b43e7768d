import { describe, expect, it } from 'vitest'
import { MAX_HOLD_MS, measurePreparedHold } from '../event-loop-hold.ts'
import { codeOf, ToolBench } from '../tool-bench.ts'

const repeat = (text: string, count: number) => text.repeat(count)
const patchOf = (...hunks: readonly string[]) => `--- a/f\n+++ b/f\n${hunks.join('\n')}\n`
const numbered = Array.from({ length: 100_000 }, (_, i) => `line ${i}\n`).join('')

describe('the work of a patch is bounded', () => {
  it.each([
    [
      'one hunk of 3,000 equal lines that differs in the last',
      repeat('a\n', 100_000),
      patchOf('@@ -50000 +50000 @@', repeat(' a\n', 15_000) + '-b\n+c'),
      'patch-failed',
    ],
    [
      '2,000 hunks that fit everywhere',
      repeat('a\n', 100_000),
      patchOf(...Array.from({ length: 2000 }, () => '@@\n-a\n+b')),
      'patch-failed',
    ],
    [
      '2,000 hunks that fit at one place each, far from where they say',
      numbered,
      patchOf(...Array.from({ length: 2000 }, (_, i) => `@@ -1 +1 @@\n-line ${i * 50 + 7}\n+b`)),
      'ok',
    ],
    [
      '2,000 hunks in their places',
      numbered,
      patchOf(
        ...Array.from(
          { length: 2000 },
          (_, i) => `@@ -${i * 50 + 8} +${i * 50 + 8} @@\n-line ${i * 50 + 7}\n+b`,
        ),
      ),
      'ok',
    ],
    [
      '2,000 hunks that fit nowhere',
      numbered,
      patchOf(
        ...Array.from(
          { length: 2000 },
          (_, i) => `@@ -${i + 1},3 +1,3 @@\n line ${i}\n-line x\n+b\n line ${i + 2}`,
        ),
      ),
      'patch-failed',
    ],
    [
      'a file of 10 MB in one line',
      repeat('ab', 5_000_000),
      patchOf('@@ -1 +1 @@', '-abc', '+b'),
      'patch-failed',
    ],
    [
      'a file of 3 million empty lines',
      repeat('\n', 3_000_000),
      patchOf('@@', '-', '-b', '+b'),
      'patch-failed',
    ],
    ['a patch of nothing but line feeds', 'a\n', repeat('\n', 900_000), 'patch-failed'],
    ['a patch of 900 KB in one line', 'a\n', patchOf('@@', '-a', `+${repeat('b', 900_000)}`), 'ok'],
    [
      'a hunk of 40,000 lines',
      numbered,
      patchOf('@@', ...Array.from({ length: 40_000 }, (_, i) => ` line ${i + 5}`), '+b'),
      'ok',
    ],
    [
      'lines that are nearly alike',
      repeat(`${repeat('xy', 100)}\n`, 40_000),
      patchOf('@@', `-${repeat('yx', 100)}`, '+b'),
      'patch-failed',
    ],
    [
      'a name of 900 KB of blanks',
      'a\n',
      `--- a/${repeat(' ', 900_000)}f\n+++ b/f\n@@\n-a\n+b`,
      'invalid-path',
    ],
    [
      'a quoted name of 900 KB',
      'a\n',
      `--- "a/${repeat('f', 900_000)}"\n+++ b/f\n@@\n-a\n+b`,
      'invalid-path',
    ],
    [
      'a V4A name of 900 KB of blanks',
      'a\n',
      `*** Update File: f${repeat(' ', 900_000)}g\n@@\n-a\n+b`,
      'invalid-path',
    ],
    [
      'a move to 900 KB of blanks',
      'a\n',
      `*** Update File: f\n*** Move to: f${repeat(' ', 900_000)}g\n@@\n-a\n+b`,
      'invalid-path',
    ],
    [
      'a header of 900 KB of blanks',
      'a\n',
      patchOf(`@@${repeat(' ', 900_000)}x`, '-b', '+c'),
      'patch-failed',
    ],
    [
      'a header with a number of 900 KB',
      'a\n',
      patchOf(`@@ -${repeat('9', 900_000)} +1 @@`, '-b', '+c'),
      'patch-failed',
    ],
    [
      'a line number far behind the end',
      'a\n',
      patchOf('@@ -999999999 +1 @@', '-b', '+c'),
      'patch-failed',
    ],
  ])('%s', { timeout: 120_000 }, async (_what, text, patch, code) => {
    const { result, longestMs } = await measurePreparedHold(
      async () => {
        const bench = new ToolBench({ extended: true })
        await bench.fs.writeFile('/f', text)
        return bench
      },
      (bench) => codeOf(bench.call('apply_patch', { patch })),
    )
    expect(result).toBe(code)
    expect(longestMs).toBeLessThan(MAX_HOLD_MS)
  })

  it('has a limit of hunks, files and lines, said in words', async () => {
    const bench = new ToolBench({ extended: true })
    await bench.fs.writeFile('/f', 'a\n')
    const files = Array.from(
      { length: 201 },
      (_, i) => `--- /dev/null\n+++ b/n${i}\n@@ -0,0 +1 @@\n+x`,
    )
    const hunks = Array.from({ length: 2001 }, () => '@@\n-a\n+b')
    for (const patch of [files.join('\n'), patchOf(...hunks), repeat('+\n', 60_000)]) {
      await expect(bench.call('apply_patch', { patch })).rejects.toMatchObject({
        code: 'patch-failed',
        message: expect.stringMatching(/more than/),
        hint: expect.stringContaining('several calls'),
      })
    }
    expect(bench.fs.all()).toEqual({ '/f': 'a\n' })
  })

  it('stops when the call is stopped', async () => {
    const bench = new ToolBench({ extended: true })
    await bench.fs.writeFile('/f', repeat('\n', 3_000_000))
    const stop = new AbortController()
    bench.signal = stop.signal
    setImmediate(() => stop.abort())
    await expect(bench.call('apply_patch', { patch: patchOf('@@', '-b', '+c') })).rejects.toThrow(
      /abort/,
    )
  })
})
