import { expect, test } from 'vitest'
import { captureCodeRun, type CodeRun, renderCodeRun } from '../../../src/modules/code/code-run.ts'
import type { CodeOutput } from '../../../src/modules/code/contract.ts'

const MB = 1024 * 1024
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const display = (mime: string, data: Uint8Array): CodeOutput => ({ type: 'display', mime, data })
const run = (...outputs: readonly CodeOutput[]): CodeRun => captureCodeRun({ outputs, exitCode: 0 })

const out = (type: 'stdout' | 'stderr', text: string): CodeOutput => ({ type, data: bytes(text) })

test('pieces of one stream are joined, until something else comes', () => {
  const { outputs } = run(
    out('stderr', 'a'),
    out('stderr', 'b'),
    out('stdout', 'c'),
    { type: 'result', value: 1 },
    out('stdout', 'd'),
    out('stdout', ''),
    out('stderr', ''),
  )
  expect(outputs).toEqual([
    { type: 'stderr', text: 'ab' },
    { type: 'stdout', text: 'c' },
    { type: 'result', value: 1 },
    { type: 'stdout', text: 'd' },
  ])
})

test('nothing, and what is no text, is left out', () => {
  expect(
    run({ type: 'result', value: null }, { type: 'result', value: undefined }).outputs,
  ).toEqual([])
  expect(run(display('text/plain', bytes(''))).outputs).toEqual([])
})

test.each(['text/html', 'application/json', 'application/geo+json', 'image/svg+xml'])(
  '%s is shown as text',
  (mime) => {
    expect(run(display(mime, bytes('x'))).outputs).toEqual([{ type: 'display', mime, text: 'x' }])
  },
)

const isKept = (sizes: readonly number[]) =>
  run(...sizes.map((size) => display('image/png', new Uint8Array(size)))).outputs.map(
    (output) => 'base64' in output,
  )

test('media are kept up to 5 MiB together, and ten of them', () => {
  expect(isKept([5 * MB])).toEqual([true])
  expect(isKept([5 * MB + 1, 1])).toEqual([false, true])
  expect(isKept([4 * MB, MB, 1])).toEqual([true, true, false])
  expect(isKept(Array(11).fill(1))).toEqual([...Array(10).fill(true), false])
})

const outputs = (first: number) =>
  run(
    { type: 'stdout', data: bytes('x'.repeat(first)) },
    { type: 'result', value: 'y'.repeat(100) },
  ).outputs[1]

test('the texts of a run share 30,000 characters', () => {
  expect(outputs(29_900)).toEqual({ type: 'result', value: 'y'.repeat(100) })
  expect(outputs(29_901)).toEqual({
    type: 'result',
    value: `${'y'.repeat(9)}\n[… 1 characters left out …]\n${'y'.repeat(90)}`,
  })
})

test('an error keeps 4,000 characters of its message and of its trace', () => {
  const long = 'x'.repeat(4001)
  const captured = captureCodeRun({
    outputs: [],
    exitCode: 1,
    error: { name: 'E', message: long, trace: long },
  })
  const cut = `${'x'.repeat(400)}\n[… 1 characters left out …]\n${'x'.repeat(3600)}`
  expect(captured.error).toEqual({ name: 'E', message: cut, trace: cut })
  const whole = captureCodeRun({ outputs: [], exitCode: 1, error: { name: 'E', message: 'm' } })
  expect(whole).toEqual({ exitCode: 1, outputs: [], error: { name: 'E', message: 'm' } })
  expect(run()).toEqual({ exitCode: 0, outputs: [] })
})

const shown = (part: Partial<CodeRun>) => renderCodeRun({ exitCode: 0, outputs: [], ...part })

test('a run as the model reads it', () => {
  const png = { type: 'media', mime: 'image/png', bytes: 1, base64: 'AA==' } as const
  const picture = { type: 'media', mediaType: 'image/png', data: new Uint8Array(1) }
  expect(shown({})).toBe('[exit code 0; no output]')
  expect(shown({ exitCode: 2 })).toBe('[exit code 2; no output]')
  expect(shown({ exitCode: 2, outputs: [{ type: 'stdout', text: 'a\n\n' }] })).toBe(
    'a\n\n[exit code 2]',
  )
  expect(shown({ outputs: [{ type: 'result', value: undefined }] })).toBe('[result] undefined')
  expect(shown({ outputs: [png] })).toEqual([picture])
  expect(shown({ outputs: [png, { type: 'stderr', text: 'a' }] })).toEqual([
    { type: 'text', text: '[stderr]\na' },
    picture,
  ])
  expect(shown({ outputs: [{ ...png, mime: 'audio/wav' }] })).toBe(
    '[display audio/wav, 1 bytes, not shown]',
  )
  expect(shown({ error: { name: 'E', message: 'm' } })).toBe('[error] E: m')
})
