import { noopLogger, systemClock } from '@helix-agents/core'
import type { CodeOutput, EngineCode } from '@helix-agents/core/provider'
import { type QuickJsCodeOptions, quickJsCode } from '@helix-agents/code-quickjs'
import { InMemoryFileSystem } from '@helix-agents/workspace-memory'
import { afterEach, expect, test } from 'vitest'

const opened: EngineCode[] = []
afterEach(() => Promise.all(opened.splice(0).map((code) => code.close())))

function open(options: QuickJsCodeOptions): EngineCode {
  const files = new InMemoryFileSystem({ versionPrefix: 'v' })
  const code = quickJsCode(options).open({ files, clock: systemClock, logger: noopLogger })
  opened.push(code)
  return code
}

const bytesOf = (outputs: readonly CodeOutput[], type: string): number =>
  outputs.reduce((sum, one) => sum + (one.type === type && 'data' in one ? one.data.length : 0), 0)

test('memoryBytes ends what wants more', async () => {
  const script = 'new Uint8Array(24 * 1024 * 1024).length'
  expect(
    (await open({ memoryBytes: 20 * 1024 * 1024 }).runCode('javascript', script)).exitCode,
  ).toBe(1)
  expect(
    (await open({ memoryBytes: 48 * 1024 * 1024 }).runCode('javascript', script)).exitCode,
  ).toBe(0)
})

test('stackBytes bounds how deep code calls', async () => {
  const script = 'let n = 0; const f = () => { n += 1; f() }; try { f() } catch {} n'
  const depth = async (stackBytes: number): Promise<number> => {
    const [result] = (await open({ stackBytes }).runCode('javascript', script)).outputs
    return result?.type === 'result' ? Number(result.value) : 0
  }
  expect(await depth(32 * 1024)).toBeLessThan(await depth(192 * 1024))
})

test('maxOutputBytes and maxDisplayBytes cut what a run returns, and name it', async () => {
  const code = open({ maxOutputBytes: 100, maxDisplayBytes: 100 })
  const script =
    'for (let i = 0; i < 50; i++) console.log("line " + i); display({ text: "x".repeat(200) })'
  const { outputs } = await code.runCode('javascript', script)
  expect([bytesOf(outputs, 'stdout'), bytesOf(outputs, 'display')]).toEqual([100, 0])
  const last = outputs.at(-1)
  const notice = last?.type === 'stderr' ? new TextDecoder().decode(last.data) : ''
  expect(notice).toBe('[290 characters of output are left out; 1 displays are left out]\n')
})

test('defaultTimeoutMs ends a run that sets no time', async () => {
  const { exitCode, error } = await open({ defaultTimeoutMs: 100 }).runCode(
    'javascript',
    'for (;;) ;',
  )
  expect([exitCode, error?.name]).toEqual([124, 'TimeoutError'])
})

test('maxContexts bounds the contexts of a workspace', async () => {
  const code = open({ maxContexts: 1 })
  const context = await code.createContext?.('typescript')
  await expect(code.createContext?.('typescript')).rejects.toThrow('1 contexts are open already')
  if (context !== undefined) await code.deleteContext?.(context)
  await expect(code.createContext?.('typescript')).resolves.toMatch(/^qjs-/)
})
