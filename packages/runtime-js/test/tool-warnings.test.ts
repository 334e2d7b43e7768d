import { defineAgent, defineTool, FileSystemError } from '@helix-agents/core'
import { ManualClock } from '@helix-agents/core/testing'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { agentWith, calls, createHarness, say } from './harness.ts'

/** Fails because of what it is told. */
const fail = defineTool({
  name: 'fail',
  description: '',
  inputSchema: z.object({ reason: z.string() }),
  execute: ({ reason }) => {
    throw new FileSystemError('storage-full', '/x', { cause: new Error(reason) })
  },
})

const failFor = (reason: string) => calls(['fail', { reason }])

function linesOf(harness: ReturnType<typeof createHarness>) {
  return harness.logger.lines.filter(({ message }) => message.endsWith('tool failed'))
}

test('a tool that fails the same way over and over is logged once, and then counted', async () => {
  const steps = [failFor('disk'), failFor('disk'), failFor('net'), failFor('disk'), say('ok')]
  const harness = createHarness(steps, { clock: new ManualClock() })
  await (await harness.executor.execute(agentWith(fail), 'x', { sessionId: 's' })).result()
  const full = linesOf(harness)
  expect(full.map(({ level }) => level)).toEqual(['warn', 'warn'])
  await harness.executor.shutdown()
  expect(linesOf(harness).slice(2)).toMatchObject([
    { level: 'warn', fields: { tool: 'fail', sessionId: 's', suppressedCount: 2 } },
  ])
})

test('what a model writes wrongly is no warning', async () => {
  const wrong = calls(
    ['workspace__box__grep', { pattern: '(' }],
    ['workspace__box__apply_patch', { patch: '@@ -1 +1 @@\n+x\n@@@' }],
  )
  const workspaces = { box: { provider: { kind: 'in-memory' }, capabilities: { fs: true } } }
  const agent = defineAgent({ name: 'a', llmConfig: { model: {} }, workspaces })
  const workspaceProviders = [new InMemoryWorkspaceProvider()]
  const harness = createHarness([wrong, say('ok')], { workspaceProviders })
  await (await harness.executor.execute(agent, 'x', { sessionId: 's' })).result()
  expect(linesOf(harness).map(({ level }) => level)).toEqual(['debug', 'debug'])
})
