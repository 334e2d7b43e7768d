import { expect, it } from 'vitest'
import { MAX_HOLD_MS, measureHold } from '../event-loop-hold.ts'
import { ToolBench } from '../tool-bench.ts'

/** More places than a refusal names. */
const MANY = 30

async function patched(text: string, hunk: string) {
  const bench = new ToolBench({ extended: true })
  await bench.fs.writeFile('/f', text)
  const patch = `*** Begin Patch\n*** Update File: f\n${hunk}*** End Patch\n`
  const message = await bench.call('apply_patch', { patch }).then(
    () => 'ok',
    (error: Error) => error.message,
  )
  return { message, text: bench.fs.text('/f') }
}

const above = '  x\n'.repeat(MANY)

it('a hunk is found in its block behind many places that it fits as well', async () => {
  const done = await patched(`A:\n${above}B:\n  x\n`, '@@ B:\n-  x\n+  y\n')
  expect(done).toEqual({ message: 'ok', text: `A:\n${above}B:\n  y\n` })
})

it('a hunk that fits its block twice is refused, however many places stand above', async () => {
  for (const count of [1, 19, 20, 21, MANY]) {
    const text = `A:\n${'  x\n'.repeat(count)}B:\n  x\n  x\n`
    const done = await patched(text, '@@ B:\n-  x\n+  y\n')
    expect(done.text).toBe(text)
    expect(done.message).toContain(`fits at lines ${count + 3}, ${count + 4}`)
  }
})

it('a hunk at the end of the file is found behind many places that it fits as well', async () => {
  const done = await patched(above, '@@\n-  x\n+  y\n*** End of File\n')
  expect(done).toEqual({ message: 'ok', text: `${'  x\n'.repeat(MANY - 1)}  y\n` })
})

it('a hunk that fits the first and the last of many blocks is refused', async () => {
  const text = `f:\n  x\n${'f:\n  z\n'.repeat(60)}f:\n  x\n`
  const done = await patched(text, '@@ f:\n-  x\n+  y\n')
  expect(done.text).toBe(text)
  expect(done.message).toContain('fits at lines 2, 124')
})

it('a line after @@ that stands nearly everywhere leaves a hunk where it alone fits', async () => {
  const text = '}\n'.repeat(100) + 'x\n'
  const done = await patched(text, '@@ }\n-x\n+y\n')
  expect(done).toEqual({ message: 'ok', text: '}\n'.repeat(100) + 'y\n' })
})

it('more lines after @@ than code is nested are refused', async () => {
  const done = await patched('x\ny\n', `${'@@ x\n'.repeat(21)}-y\n+z\n`)
  expect(done.message).toContain('has 21 lines after @@, and at most 20 are allowed')
})

it.each([
  ['one hunk', `${'@@ x\n'.repeat(20)}-y\n+z\n`, 'ok'],
  ['many hunks', '@@ x\n-y\n+z\n'.repeat(500), 'both need line'],
  ['many hunks that fit nowhere there', '@@ y\n x\n+z\n'.repeat(500), 'fits at lines|does not fit'],
])(
  '%s below lines that stand everywhere: the work is bounded',
  { timeout: 120_000 },
  async (...c) => {
    const [, hunks, message] = c
    const { result, longestMs } = await measureHold(() =>
      patched(`${'x\n'.repeat(300_000)}y\n`, hunks),
    )
    expect(result.message).toMatch(new RegExp(`${message}|too many hunks`))
    expect(longestMs).toBeLessThan(MAX_HOLD_MS)
  },
)
