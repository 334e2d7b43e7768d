import { describe, expect, it } from 'vitest'
import { MAX_HOLD_MS, measurePreparedHold } from '../event-loop-hold.ts'
import { codeOf, ToolBench } from '../tool-bench.ts'

const MB = 1_048_576

async function benchWith(text: string) {
  const bench = new ToolBench({ extended: true })
  await bench.fs.writeFile('/f', text)
  return bench
}

describe('a text that overlaps itself', () => {
  it.each([
    ['aaa', 'aa'],
    ['}\n}\n}\n', '}\n}\n'],
    ['}\r\n}\r\n}\r\n', '}\n}\n'],
    [`x${'ab'.repeat(500)}`, 'ab'.repeat(300)],
  ])('%j: %j stands there more than once', async (text, oldText) => {
    const bench = await benchWith(text)
    const edit = bench.call('edit_file', { path: '/f', oldText, newText: 'y' })
    await expect(edit).rejects.toMatchObject({ code: 'ambiguous-match' })
    expect(bench.fs.text('/f')).toBe(text)
  })

  it('is replaced from left to right with replaceAll', async () => {
    const bench = await benchWith('aaaaa')
    await bench.call('edit_file', { path: '/f', oldText: 'aa', newText: 'b', replaceAll: true })
    expect(bench.fs.text('/f')).toBe('bba')
  })
})

describe('half of a surrogate pair', () => {
  const HALF = '\uD83D'
  it.each([
    ['edit_file', { path: '/f', oldText: HALF, newText: 'x' }],
    ['edit_file', { path: '/f', oldText: 'a', newText: HALF }],
    ['multi_edit', { path: '/f', edits: [{ oldText: 'a', newText: HALF }] }],
    ['write_file', { path: '/f', content: HALF }],
    ['append_file', { path: '/f', content: HALF }],
    ['apply_patch', { patch: `--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a😀\n+${HALF}\n` }],
  ])('%s refuses it: the file would be damaged', async (tool, input) => {
    const bench = await benchWith('a😀\n')
    await expect(bench.call(tool, input)).rejects.toThrow('holds half of a surrogate pair')
    expect(bench.fs.text('/f')).toBe('a😀\n')
  })
})

describe('texts of an edit that are as long as they may be', () => {
  const MOST = 1_000_000
  it.each([
    ['blanks and line feeds', '  \n'.repeat(3 * MB), ' \n'.repeat(MOST / 2), 'x'],
    ['line feeds', '\n'.repeat(8 * MB), `${'\n'.repeat(MOST - 1)}x`, 'x'],
    ['CRLF', 'a\n', 'a', '\r\n'.repeat(MB)],
    ['a new text of line feeds', 'a\r\nb\r\n', 'b', '\n'.repeat(MB)],
    ['a long text that repeats itself', 'a'.repeat(10 * MB), `${'a'.repeat(MOST - 1)}b`, ''],
  ])('%s', { timeout: 120_000 }, async (_what, text, oldText, newText) => {
    const { result, longestMs } = await measurePreparedHold(
      () => benchWith(text),
      (bench) => codeOf(bench.call('edit_file', { path: '/f', oldText, newText })),
    )
    expect(['ok', 'no-match']).toContain(result)
    expect(longestMs).toBeLessThan(MAX_HOLD_MS)
  })

  it('a longer oldText is refused', async () => {
    const bench = await benchWith('a')
    const edit = bench.call('edit_file', { path: '/f', oldText: 'a'.repeat(MOST + 1), newText: '' })
    await expect(edit).rejects.toThrow('has more than 1000000 characters')
  })
})

it('a quoted name of a patch that is not UTF-8 is refused', async () => {
  const bench = await benchWith('a\n')
  const patch = '--- /dev/null\n+++ "b/f\\377"\n@@ -0,0 +1 @@\n+x\n'
  await expect(bench.call('apply_patch', { patch })).rejects.toThrow('is not UTF-8')
  expect(bench.fs.calls).toEqual(['write /f'])
})

it('an empty pattern is no empty path', async () => {
  const bench = await benchWith('a\n')
  await expect(bench.call('glob', { pattern: '' })).rejects.toThrow('(empty pattern): ')
})
