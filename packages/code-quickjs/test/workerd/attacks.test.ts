// A sample of the hostile scripts in workerd, where code shares the isolate with its object.
import { noopLogger, systemClock } from '@helix-agents/core'
import type { EngineCode } from '@helix-agents/core/provider'
import { TestSampler } from '@helix-agents/core/testing'
import { quickJsCode } from '@helix-agents/code-quickjs'
import { InMemoryFileSystem } from '@helix-agents/workspace-memory'
import { afterAll, expect, test } from 'vitest'
import { endless, escapes, poisoned } from '../hostile-code.ts'

const sampler = new TestSampler()
const files = new InMemoryFileSystem({ versionPrefix: 'v' })
const code: EngineCode = quickJsCode().open({ files, clock: systemClock, logger: noopLogger })
/** Code in a built-in is ended by the limits of the object only: none of that here. */
const scripts = [
  ...sampler.pick('endless', endless, 5),
  ...sampler.pick('escapes', escapes, 6),
  ...sampler.pick('poisoned', poisoned, 6),
  'function f() { f() } f()',
  'eval("(".repeat(200000))',
  'const all = []; for (;;) all.push(new Array(1000).fill("x"))',
  'const all = []; for (;;) all.push(new ArrayBuffer(1 << 20))',
  '"x".repeat(2 ** 29).length',
]

afterAll(() => code.close())

test.each(scripts)('%s', { timeout: 120_000 }, async (script) => {
  const { exitCode } = await code.runCode('javascript', script, { timeoutMs: 200 })
  expect([0, 1, 124]).toContain(exitCode)
  // The isolate works on.
  expect((await code.runCode('javascript', '1 + 1')).outputs).toEqual([
    { type: 'result', value: 2 },
  ])
})
