// The hook of the application that hears of requests.
import { defineTool } from '@helix-agents/core'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { agentWith, calls, createHarness, say } from '../harness.ts'

const pay = defineTool({
  name: 'pay',
  description: 'Pays.',
  inputSchema: z.object({}),
  needsApproval: true,
  execute: () => 'paid',
})

test('onRequest gets a request that is stored, and never delays the run', async () => {
  const seen: unknown[] = []
  const harness = createHarness([calls(['pay']), say('done')], {
    onRequest: async ({ requestId, sessionId }) => {
      seen.push(await harness.store.getRequest(sessionId, requestId))
      await new Promise(() => {})
    },
  })
  const handle = await harness.executor.execute(agentWith(pay), 'Go', { sessionId: 's' })
  expect((await handle.result()).status).toBe('waiting')
  expect(seen).toMatchObject([{ sessionId: 's', toolName: 'pay' }])
})

test.each([
  [
    'throws',
    () => {
      throw new Error('no mail server')
    },
  ],
  ['rejects', () => Promise.reject(new Error('no mail server'))],
])('an onRequest that %s is logged, and the session waits', async (_, onRequest) => {
  const harness = createHarness([calls(['pay']), say('done')], { onRequest })
  const handle = await harness.executor.execute(agentWith(pay), 'Go', { sessionId: 's' })
  expect((await handle.result()).status).toBe('waiting')
  const failures = harness.logger.lines.filter(({ message }) => message === 'onRequest failed')
  expect(failures).toMatchObject([{ level: 'error', fields: { sessionId: 's' } }])
})
