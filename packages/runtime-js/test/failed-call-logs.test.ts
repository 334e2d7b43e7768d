// What the log tells of tool calls that failed: a refusal is a detail, a failure with a cause is a warning.
import { defineTool, ToolFailedError } from '@helix-agents/core'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { agentWith, calls, createHarness, gate, say } from './harness.ts'

const MESSAGE = 'tool failed'

function failing(error: unknown) {
  return defineTool({
    name: 'fail',
    description: '',
    inputSchema: z.object({}),
    execute: () => {
      throw error
    },
  })
}

async function logOf(error: unknown, times = 1) {
  const steps = Array.from({ length: times }, () => calls(['fail']))
  const { executor, logger } = createHarness([...steps, say('done')])
  const handle = await executor.execute(agentWith(failing(error)), 'x', { sessionId: 's' })
  expect((await handle.result()).status).toBe('completed')
  return logger.with(MESSAGE)
}

test.each([
  ['a failure that the tool tells', new ToolFailedError('tool-failed', 'no'), 'debug'],
  [
    'a failure with a cause',
    new ToolFailedError('tool-failed', 'no', { cause: new Error('disk') }),
    'warn',
  ],
] as const)('%s is logged, with what it was', async (_name, error, level) => {
  const records = await logOf(error)
  expect(records).toMatchObject([
    { level, fields: { err: error, sessionId: 's', tool: 'fail', toolCallId: 'a' } },
  ])
})

test('a defect of the tool is logged with its own error', async () => {
  const error = new TypeError('odd')
  expect(await logOf(error)).toMatchObject([{ level: 'warn', fields: { err: { cause: error } } }])
})

test('failures with one cause are logged once in a while', async () => {
  const error = new ToolFailedError('tool-failed', 'no', { cause: new Error('disk') })
  expect(await logOf(error, 3)).toHaveLength(1)
})

test('a call that was stopped with its run is no failure of the tool', async () => {
  const reached = gate()
  const tool = defineTool({
    name: 'wait',
    description: '',
    inputSchema: z.object({}),
    execute: (_input, { abortSignal }) => {
      reached.open()
      return new Promise((_resolve, reject) =>
        abortSignal.addEventListener('abort', () => reject(abortSignal.reason as Error)),
      )
    },
  })
  const { executor, logger } = createHarness([calls(['wait'])])
  const handle = await executor.execute(agentWith(tool), 'x', { sessionId: 's' })
  await reached.opened
  await handle.abort()
  await handle.result()
  expect(logger.with(MESSAGE).every(({ level }) => level === 'debug')).toBe(true)
})
