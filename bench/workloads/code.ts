// A run of code that starts an interpreter of its own: QuickJS beside a process of Node.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { noopLogger, systemClock } from '@helix-agents/core'
import { quickJsCode } from '@helix-agents/code-quickjs'
import { InMemoryFileSystem } from '@helix-agents/workspace-memory'
import { measure } from '../harness/measure.ts'
import { report, type Verdict } from '../harness/report.ts'

export async function run(): Promise<Verdict[]> {
  const files = new InMemoryFileSystem()
  const code = quickJsCode().open({ files, clock: systemClock, logger: noopLogger })
  const contenders = [
    { name: 'spawn node -e', run: (times: number) => repeat(times, spawned) },
    {
      name: 'helix run_code in QuickJS',
      run: (times: number) => repeat(times, () => code.runCode('javascript', '1 + 1')),
    },
  ]
  const measurements = await measure(contenders, { sampleMs: 200 })
  const names = { ours: 'helix run_code in QuickJS', limit: 'spawn node -e', unit: 'ms' } as const
  const verdict = report({
    ...names,
    title: 'code: a run with an interpreter of its own',
    measurements,
    gate: { most: 0.4 },
  })
  await code.close()
  return [verdict]
}

async function repeat(times: number, task: () => Promise<unknown>): Promise<void> {
  for (let i = 0; i < times; i++) await task()
}

async function spawned(): Promise<void> {
  await once(spawn(process.execPath, ['-e', '1 + 1'], { stdio: 'ignore' }), 'exit')
}
