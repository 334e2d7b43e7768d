import { expect, test } from 'vitest'
import type { ModuleToolContext } from '../../../../src/modules/define-module.ts'
import type { RunResult } from '../../../../src/modules/shell/contract.ts'
import { showOutputs } from '../../../../src/modules/shell/output/shown-output.ts'
import { ManualClock } from '../../../../src/testing/manual-clock.ts'
import { MapFileSystem } from '../../fs/map-file-system.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

async function show(part: Partial<RunResult>, files: MapFileSystem | undefined) {
  const context = { files, clock: new ManualClock(35) } as unknown as ModuleToolContext
  const result = { stdout: bytes(''), stderr: bytes(''), ...part } as RunResult
  return showOutputs(result, context)
}

test('both outputs fill the budget of a result, and errors have a third of it', async () => {
  const long = bytes('x'.repeat(40_000))
  const lengths = async (stdout: number, stderr: number) => {
    const parts = { stdout: long.subarray(0, stdout), stderr: long.subarray(0, stderr) }
    const shown = await show(parts, undefined)
    return [shown.stdout, shown.stderr].map(({ text, cut }) =>
      cut === undefined ? text.length : text.replaceAll(/\[…[^\]]*\]|\n/g, '').length,
    )
  }
  expect(await lengths(30_000, 0)).toEqual([30_000, 0])
  expect(await lengths(40_000, 0)).toEqual([30_000, 0])
  expect(await lengths(40_000, 5000)).toEqual([25_000, 5000])
  expect(await lengths(40_000, 40_000)).toEqual([20_000, 10_000])
  expect(await lengths(1000, 40_000)).toEqual([1000, 29_000])
})

test('each long output is stored under a name of its own', async () => {
  const files = new MapFileSystem()
  const [stdout, stderr] = [bytes('o'.repeat(40_000)), bytes('e'.repeat(40_000))]
  const shown = await show({ stdout, stderr }, files)
  await show({ stdout }, files)
  const paths = [...files.files.keys()]
  expect(paths).toEqual([
    expect.stringMatching(/^\/\.helix\/output\/z-[\da-f]{8}\.txt$/),
    expect.stringMatching(/^\/\.helix\/output\/z-[\da-f]{8}-stderr\.txt$/),
    expect.stringMatching(/^\/\.helix\/output\/z-[\da-f]{8}\.txt$/),
  ])
  expect([shown.stdout.cut, shown.stderr.cut]).toEqual([
    { totalBytes: 40_000, path: paths[0] },
    { totalBytes: 40_000, path: paths[1] },
  ])
  expect(files.text(paths[1]!)).toBe('e'.repeat(40_000))
})

test('of an output that its provider has cut, the head is short and the tail long', async () => {
  const stdout = bytes(`${'h'.repeat(5000)}${'t'.repeat(50_000)}`)
  const cut = { totalBytes: 90_000, headBytes: 5000, path: '/whole' }
  const { text } = (await show({ stdout, stdoutCut: cut }, undefined)).stdout
  expect(text).toBe(
    `${'h'.repeat(3000)}\n[… 60000 of 90000 bytes left out; whole output: /whole …]\n${'t'.repeat(27_000)}`,
  )
})

const textOf = async (head: string, tail: string) => {
  const cut = { totalBytes: 10, headBytes: head.length }
  return (await show({ stdout: bytes(head + tail), stdoutCut: cut }, undefined)).stdout.text
}

test('a head that ends a line needs no line end more, and an empty one none', async () => {
  expect(await textOf('a\n', 'b')).toBe('a\n[… 7 of 10 bytes left out; not kept …]\nb')
  expect(await textOf('a', 'b')).toBe('a\n[… 8 of 10 bytes left out; not kept …]\nb')
  expect(await textOf('', 'b')).toBe('[… 9 of 10 bytes left out; not kept …]\nb')
})
