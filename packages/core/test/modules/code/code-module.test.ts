import { expect, test, vi } from 'vitest'
import { decodeBase64, encodeBase64 } from '../../../src/modules/code/base64.ts'
import type { CodeRun } from '../../../src/modules/code/code-run.ts'
import type {
  CodeContextId,
  CodeInterpreter,
  CodeOutput,
  RunCodeResult,
} from '../../../src/modules/code/contract.ts'
import { StubAgent } from '../../tools/stub-context.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const out = (text: string): CodeOutput => ({ type: 'stdout', data: bytes(text) })

function createCode(result: Partial<RunCodeResult> = {}) {
  const runCode = vi.fn<CodeInterpreter['runCode']>(async () => ({
    outputs: [],
    exitCode: 0,
    ...result,
  }))
  const code = {
    languages: ['python', 'javascript'],
    isStateful: true,
    runCode,
    createContext: vi.fn<NonNullable<CodeInterpreter['createContext']>>(
      async () => 'c1' as CodeContextId,
    ),
    runInContext: vi.fn<NonNullable<CodeInterpreter['runInContext']>>(async () => ({
      outputs: [out('2\n')],
      exitCode: 0,
    })),
    deleteContext: vi.fn<NonNullable<CodeInterpreter['deleteContext']>>(async () => {}),
  }
  return code
}

test('a snippet runs with the declared time, the signal and live output', async () => {
  const code = createCode()
  code.runCode.mockImplementationOnce(async (_language, _code, options) => {
    await options!.onOutput!(out('live'))
    await options!.onOutput!({ type: 'result', value: 1 })
    return { outputs: [], exitCode: 0 }
  })
  const agent = new StubAgent({ code }, { code: { timeoutMs: 50 } })
  expect(await agent.ask('run_code', { language: 'python', code: '1' })).toBe(
    '[exit code 0; no output]',
  )
  expect(code.runCode.mock.calls[0]).toMatchObject([
    'python',
    '1',
    { timeoutMs: 50, signal: agent.abort.signal },
  ])
  expect(agent.progress).toEqual([{ output: 'stdout', text: 'live' }])
})

test('a language that is not declared is refused and audited, also for contexts', async () => {
  const code = createCode()
  const agent = new StubAgent({ code }, { code: { languages: ['python'], isStateful: true } })
  const refused = { name: 'PolicyError', code: 'language-not-allowed' }
  await expect(agent.call('run_code', { language: 'javascript', code: '1' })).rejects.toMatchObject(
    refused,
  )
  await expect(agent.call('create_code_context', { language: 'Python' })).rejects.toMatchObject(
    refused,
  )
  expect(code.runCode).not.toHaveBeenCalled()
  expect(code.createContext).not.toHaveBeenCalled()
  expect(agent.access.audits).toMatchObject([
    {
      message: 'workspace tool: language not allowed',
      code: 'language-not-allowed',
      key: 'javascript',
    },
    { key: 'Python' },
  ])
  await agent.call('run_code', { language: 'python', code: '1' })
})

test('contexts are created, used and deleted', async () => {
  const code = createCode()
  const agent = new StubAgent({ code }, { code: { isStateful: true } })
  expect(await agent.call('create_code_context', { language: 'python' })).toEqual({
    contextId: 'c1',
  })
  expect(await agent.ask('run_in_code_context', { contextId: 'c1', code: 'x' })).toBe('2')
  expect(code.runInContext).toHaveBeenCalledWith(
    'c1',
    'x',
    expect.objectContaining({ timeoutMs: 120_000 }),
  )
  expect(await agent.ask('delete_code_context', { contextId: 'c1' })).toContain('c1')
  await expect(
    agent.call('run_in_code_context', { contextId: '', code: 'x' }),
  ).rejects.toMatchObject({
    code: 'invalid-input',
  })
})

test('an interpreter without contexts says so', async () => {
  const { languages, runCode } = createCode()
  const agent = new StubAgent(
    { code: { languages, runCode, isStateful: false } },
    { code: { isStateful: true } },
  )
  for (const [name, input] of [
    ['create_code_context', { language: 'python' }],
    ['run_in_code_context', { contextId: 'c', code: '' }],
    ['delete_code_context', { contextId: 'c' }],
  ] as const) {
    await expect(agent.call(name, input)).rejects.toMatchObject({ code: 'capability-missing' })
  }
})

test('outputs keep their order; pieces of one stream are joined, characters whole', async () => {
  const euro = bytes('€')
  const outputs: CodeOutput[] = [
    { type: 'stdout', data: euro.subarray(0, 1) },
    { type: 'stdout', data: euro.subarray(1) },
    { type: 'stderr', data: bytes('oops\n') },
    out('more\n'),
    { type: 'display', mime: 'text/html', data: bytes('<b>') },
    { type: 'result', value: { a: 1 } },
    { type: 'result', value: undefined },
  ]
  const agent = new StubAgent({ code: createCode({ outputs }) }, { code: true })
  expect(await agent.call('run_code', { language: 'python', code: '' })).toEqual({
    exitCode: 0,
    outputs: [
      { type: 'stdout', text: '€' },
      { type: 'stderr', text: 'oops\n' },
      { type: 'stdout', text: 'more\n' },
      { type: 'display', mime: 'text/html', text: '<b>' },
      { type: 'result', value: { a: 1 } },
    ],
  })
  expect(await agent.ask('run_code', { language: 'python', code: '' })).toBe(
    '€\n[stderr]\noops\nmore\n[display text/html]\n<b>\n[result] {"a":1}',
  )
})

test('an image reaches the model as a picture; other and huge media by name', async () => {
  const image = Uint8Array.from({ length: 20_000 }, (_, i) => i % 256)
  const outputs: CodeOutput[] = [
    { type: 'display', mime: 'image/png', data: image },
    { type: 'display', mime: 'application/pdf', data: image },
    { type: 'display', mime: 'image/png', data: new Uint8Array(6 * 1024 * 1024) },
  ]
  const agent = new StubAgent({ code: createCode({ outputs }) }, { code: true })
  expect(await agent.ask('run_code', { language: 'python', code: '' })).toEqual([
    {
      type: 'text',
      text: '[display application/pdf, 20000 bytes, not shown]\n[display image/png, 6291456 bytes, not shown]',
    },
    { type: 'media', mediaType: 'image/png', data: image },
  ])
  expect(decodeBase64(encodeBase64(image))).toEqual(image)
  expect(encodeBase64(image)).toBe(Buffer.from(image).toString('base64'))
  const native = Object.assign(new Uint8Array(3), { toBase64: () => 'AAAA' })
  expect(encodeBase64(native)).toBe(encodeBase64(new Uint8Array(3)))
})

test('an error is shown with its trace, without colours', async () => {
  const error = { name: 'ValueError', message: 'bad', trace: '\u001B[31mline 1\u001B[0m' }
  const agent = new StubAgent({ code: createCode({ error, exitCode: 1 }) }, { code: true })
  expect(await agent.ask('run_code', { language: 'python', code: '' })).toBe(
    '[error] ValueError: bad\nline 1\n[exit code 1]',
  )
})

test('a value that is not JSON does not break the result', async () => {
  const circular: { self?: unknown } = {}
  circular.self = circular
  for (const value of [1n, circular]) {
    const outputs: CodeOutput[] = [{ type: 'result', value }]
    const agent = new StubAgent({ code: createCode({ outputs }) }, { code: true })
    expect(await agent.ask('run_code', { language: 'python', code: '' })).toContain('not JSON')
  }
})

test('all text together stays within the budget', async () => {
  const long = 'x'.repeat(50_000)
  const outputs: CodeOutput[] = [
    out(long),
    { type: 'stderr', data: bytes(long) },
    { type: 'result', value: long },
    { type: 'display', mime: 'text/plain', data: bytes(long) },
  ]
  const error = { name: 'E', message: long, trace: long }
  const agent = new StubAgent({ code: createCode({ outputs, error }) }, { code: true })
  const run = await agent.call<CodeRun>('run_code', { language: 'python', code: '' })
  expect(JSON.stringify(run).length).toBeLessThan(40_000)
  expect(run.outputs[0]).toMatchObject({ text: expect.stringContaining('characters left out') })
})
