// Calls whose result comes from outside: questions to the user and tools of a client.
import { askUserTool, defineTool } from '@helix-agents/core'
import type { SessionRequest } from '@helix-agents/core/runtime'
import type { AgentHandle } from '@helix-agents/runtime-js'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { agentWith, calls, createHarness, say, storedMessages, textOfResult } from '../harness.ts'

async function onlyRequest(handle: AgentHandle): Promise<SessionRequest> {
  const result = await handle.result()
  const [request] = result.status === 'waiting' ? result.requests : []
  if (request === undefined) throw new Error(`the run is ${result.status}`)
  return request
}

test('a question waits for its answer, which the model reads', async () => {
  const agent = agentWith(askUserTool())
  const question = { question: 'Which one?', options: ['red', 'blue'] }
  const harness = createHarness([calls(['ask_user', question]), say('done')])
  const handle = await harness.executor.execute(agent, 'Go', { sessionId: 's' })
  const { requestId, kind, preview } = await onlyRequest(handle)
  expect({ kind, preview }).toMatchObject({
    kind: 'question',
    preview: { title: 'Which one?', body: '- red\n- blue' },
  })
  const answer = (given: object) =>
    harness.executor.respond(agent, 's', requestId, given as { output: unknown })
  await expect(answer({ decision: 'approve' })).rejects.toThrow('decision must be output or deny')
  const tooLong = { decision: 'deny', reason: 'x'.repeat(10_001) }
  for (const denial of [tooLong, { decision: 'deny', reason: 7 }]) {
    await expect(answer(denial)).rejects.toMatchObject({ code: 'invalid-answer' })
  }
  await expect(answer({ output: 7 })).rejects.toThrow('an answer is a text')
  const { handle: next } = await answer({ output: 'blue' })
  expect(await next?.result()).toMatchObject({ status: 'completed' })
  expect(textOfResult((await storedMessages(harness)).at(-2))).toBe('blue')
})

test('a tool without execute waits for a client, whose output is checked', async () => {
  const locate = defineTool({
    name: 'locate',
    description: 'Where the browser is.',
    inputSchema: z.object({}),
    outputSchema: z.object({ lat: z.number() }),
    annotations: { readOnly: true },
  })
  const agent = agentWith(locate)
  const harness = createHarness([calls(['locate']), say('done')])
  const handle = await harness.executor.execute(agent, 'Go', { sessionId: 's' })
  const { requestId, kind } = await onlyRequest(handle)
  expect(kind).toBe('client-tool')
  const answer = (output: unknown) => harness.executor.respond(agent, 's', requestId, { output })
  await expect(answer({ lat: 'north' })).rejects.toThrow('output.lat')
  const { handle: next } = await answer({ lat: 3 })
  expect(await next?.result()).toMatchObject({ status: 'completed' })
  expect(textOfResult((await storedMessages(harness)).at(-2))).toBe('{"lat":3}')
})

test('a reason has 10 000 characters at most', async () => {
  const agent = agentWith(askUserTool())
  const harness = createHarness([calls(['ask_user', { question: 'Well?' }]), say('done')])
  const handle = await harness.executor.execute(agent, 'Go', { sessionId: 's' })
  const { requestId } = await onlyRequest(handle)
  const reason = 'x'.repeat(10_000)
  const denial = { decision: 'deny', reason } as const
  const { handle: next } = await harness.executor.respond(agent, 's', requestId, denial)
  expect(await next?.result()).toMatchObject({ status: 'completed' })
  expect(textOfResult((await storedMessages(harness)).at(-2))).toContain(reason)
})
