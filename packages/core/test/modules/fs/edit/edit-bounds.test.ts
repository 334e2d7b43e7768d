import { describe, expect, it } from 'vitest'
import { MapFileSystem } from '../map-file-system.ts'
import { MAX_HOLD_MS, measureHold, measurePreparedHold } from '../event-loop-hold.ts'
import { codeOf, ToolBench } from '../tool-bench.ts'

const MB = 1_048_576

async function benchWith(text: string) {
  const bench = new ToolBench({ extended: true })
  await bench.fs.writeFile('/f', text)
  return bench
}

const edit = (text: string, oldText: string, newText: string) =>
  measurePreparedHold(
    () => benchWith(text),
    (bench) => codeOf(bench.call('edit_file', { path: '/f', oldText, newText, replaceAll: true })),
  )

describe('the work of an edit is bounded', () => {
  it.each([
    ['one line of 10 MB', '{"a":"xx"},'.repeat((10 * MB) / 11), 'xx', 'y'],
    ['as many places as bytes', 'a'.repeat(2 * MB), 'a', 'b'],
    ['nothing but line feeds', '\n'.repeat(2 * MB), '\n', 'b'],
    ['a long text that nearly fits everywhere', 'a'.repeat(10 * MB), `ab${'a'.repeat(20_000)}`, ''],
    ['a short text that nearly fits everywhere', 'a'.repeat(10 * MB), 'aaaaab', ''],
    ['lines that are all alike', 'abcdefg abcdefh\n'.repeat(MB / 2), 'abcdefg abcdefx\n', 'y'],
    ['a block of lines that are all alike', 'ab\n'.repeat(MB), `${'ab\n'.repeat(9999)}b`, 'y'],
  ])('%s', { timeout: 120_000 }, async (_what, text, oldText, newText) => {
    const { result, longestMs } = await edit(text, oldText, newText)
    expect(['ok', 'no-match']).toContain(result)
    expect(longestMs).toBeLessThan(MAX_HOLD_MS)
  })

  it.each([
    ['CRLF in a file with LF', '\n', '\r\n'],
    ['LF in a file with CRLF', '\r\n', '\n'],
    ['CRLF in a file with CRLF', '\r\n', '\r\n'],
  ])('a new text of nothing but line ends: %s', { timeout: 120_000 }, async (_what, own, given) => {
    // As a parser makes it: in one piece.
    const newText = Buffer.from(given.repeat((4 * MB) / given.length)).toString()
    const { result, longestMs } = await edit(
      `one${own}two${own}three${own}`,
      `one${own}two`,
      newText,
    )
    expect(result).toBe('ok')
    expect(longestMs).toBeLessThan(MAX_HOLD_MS)
  })

  it('many edits, each of every byte', { timeout: 120_000 }, async () => {
    const edits = Array.from({ length: 20 }, (_, index) => ({
      oldText: index % 2 === 0 ? 'a' : 'b',
      newText: index % 2 === 0 ? 'b' : 'a',
      replaceAll: true,
    }))
    const { result, longestMs } = await measurePreparedHold(
      () => benchWith('a'.repeat(2 * MB)),
      async (bench) => {
        await bench.call('multi_edit', { path: '/f', edits })
        return bench.fs
      },
    )
    expect(result.text('/f')).toBe('a'.repeat(2 * MB))
    expect(longestMs).toBeLessThan(MAX_HOLD_MS)
  })

  it('computes how long the result is before it makes it', { timeout: 120_000 }, async () => {
    const bench = await benchWith('a'.repeat(10 * MB))
    const before = process.memoryUsage().rss
    const input = { path: '/f', oldText: 'a', newText: 'b'.repeat(50), replaceAll: true }
    const { result, longestMs } = await measureHold(() => codeOf(bench.call('edit_file', input)))
    expect(result).toBe('too-large')
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * MB)
    expect(longestMs).toBeLessThan(MAX_HOLD_MS)
    expect(bench.fs.calls).toEqual(['write /f'])
  })

  it.each([
    ['edit_file', { path: '/f', oldText: 'a', newText: 'b' }],
    ['multi_edit', { path: '/f', edits: [{ oldText: 'a', newText: 'b' }] }],
    ['apply_patch', { patch: '--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n' }],
  ])('%s reads nothing of a file that is too large', async (tool, input) => {
    const fs = new LargeFile()
    const bench = new ToolBench({ extended: true }, fs)
    await fs.writeFile('/f', 'a\n')
    expect(await bench.code(tool, input)).toBe('too-large')
    expect(fs.reads).toBe(0)
  })

  it('stops when the call is stopped', async () => {
    const bench = await benchWith('a'.repeat(MB))
    const stop = new AbortController()
    bench.signal = stop.signal
    setImmediate(() => stop.abort())
    const call = bench.call('edit_file', {
      path: '/f',
      oldText: 'a',
      newText: '',
      replaceAll: true,
    })
    await expect(call).rejects.toThrow(/abort/)
    expect(bench.fs.text('/f')).toHaveLength(MB)
  })
})

/** Says that a file has 1.9 GB, and counts who reads it all the same. */
class LargeFile extends MapFileSystem {
  reads = 0
  override async stat(path: string) {
    return { ...(await super.stat(path)), size: 1_900_000_000 }
  }
  override async readText(path: string) {
    this.reads += 1
    return super.readText(path)
  }
  override async readFile(path: string) {
    this.reads += 1
    return super.readFile(path)
  }
}
