// What who answers reads when an answer cannot be taken, word for word, and until when it can.
import { defineTool, type Tool } from '@helix-agents/core'
import { ManualClock } from '@helix-agents/core/testing'
import type { RequestResponse } from '@helix-agents/runtime-js'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { agentWith, calls, createHarness, say, storedMessages, textOfResult } from '../harness.ts'

const sendTool = (more: object = {}) =>
  defineTool({
    name: 'send',
    description: '',
    inputSchema: z
      .object({ to: z.string(), also: z.object({ who: z.string() }).optional() })
      .refine(({ to }) => to !== 'nobody', 'somebody must get it'),
    needsApproval: true,
    execute: ({ to }) => `sent to ${to}`,
    ...more,
  })
const locate = defineTool({
  name: 'locate',
  description: '',
  inputSchema: z.object({}),
  outputSchema: z
    .object({ lat: z.number() })
    .refine(({ lat }) => lat < 90, 'that is beyond the pole'),
})

async function asked(tool: Tool = sendTool(), input: object = { to: 'ada' }) {
  const clock = new ManualClock(1_700_000_000_000)
  const harness = createHarness([calls([tool.name, input]), say('done')], { clock })
  const agent = agentWith(tool)
  const handle = await harness.executor.execute(agent, 'Go', { sessionId: 's' })
  await handle.result()
  const [request] = (await harness.executor.listRequests({ sessionId: 's' })).items
  const { requestId } = request!
  const answer = (given: unknown, id = requestId) =>
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- that is the point
    harness.executor.respond(agent, 's', id, given as RequestResponse)
  return { ...harness, clock, agent, request: request!, requestId, answer }
}

const refusal = async (work: Promise<unknown>): Promise<readonly [string, string]> => {
  const error = (await work.then(
    () => undefined,
    (one: unknown) => one,
  )) as { code: string; message: string }
  return [error.code, error.message]
}

test.each<readonly [object, string]>([
  [{}, 'decision must be approve or deny'],
  [{ decision: 'output', output: 'x' }, 'decision must be approve or deny'],
  [{ output: 'x' }, 'decision must be approve or deny'],
  [{ decision: 'approve', by: 7 }, 'by must be a short text'],
  [{ decision: 'approve', by: 'x'.repeat(1025) }, 'by must be a short text'],
  [{ decision: 'approve', remember: 'always' }, 'remember must be session'],
  [
    { decision: 'deny', reason: 'x'.repeat(10_001) },
    'reason must be a text of at most 10000 characters',
  ],
  [{ decision: 'approve', reason: 7 }, 'reason must be a text of at most 10000 characters'],
  [
    { decision: 'approve', input: { to: 7 } },
    'input.to: Invalid input: expected string, received number',
  ],
  [
    { decision: 'approve', input: { to: 'x', also: {} } },
    'input.also.who: Invalid input: expected string, received undefined',
  ],
  [{ decision: 'approve', input: { to: 'nobody' } }, 'input: somebody must get it'],
  [{ decision: 'approve', input: { to: 1n } }, 'input is no plain JSON'],
])('an answer %o: %s', async (given, problem) => {
  const { answer, requestId, store } = await asked()
  const [code, message] = await refusal(answer(given))
  expect(code).toBe('invalid-answer')
  expect(message).toContain(`the answer to request ${requestId} is not valid: ${problem}`)
  expect((await store.getRequest('s', requestId))?.resolution).toBeUndefined()
})

test('an answer that is none, and one of who is no client, are refused', async () => {
  const { answer } = await asked()
  for (const given of [null, undefined, 'yes', 7]) {
    expect(await refusal(answer(given))).toMatchObject(['invalid-answer', expect.any(String)])
  }
  const client = await asked(locate, {})
  for (const [given, problem] of [
    [{ decision: 'approve' }, 'decision must be output or deny'],
    [{ output: { lat: 'x' } }, 'output.lat: Invalid input: expected number, received string'],
    [{ output: { lat: 91 } }, 'output: that is beyond the pole'],
    [{ output: undefined }, 'output is no plain JSON'],
  ] as const) {
    const [, message] = await refusal(client.answer(given))
    expect(message).toContain(`is not valid: ${problem}`)
  }
})

test('a schema that throws does not fit, and its error is the cause', async () => {
  const cause = new Error('the schema is broken')
  let isBroken = false
  const inputSchema = z.object({ to: z.string() }).refine(() => {
    if (isBroken) throw cause
    return true
  })
  const { answer } = await asked(sendTool({ inputSchema }))
  isBroken = true
  const work = answer({ decision: 'approve', input: { to: 'x' } })
  expect((await refusal(work))[1]).toContain('input does not fit')
  await expect(work).rejects.toHaveProperty('cause')
})

test('an unknown request is named, and no more of it than a hundred characters', async () => {
  const { answer } = await asked()
  const yes = { decision: 'approve' }
  expect(await refusal(answer(yes, 'nothing'))).toEqual([
    'unknown-request',
    expect.stringContaining('it has no request "nothing"'),
  ])
  const [, message] = await refusal(answer(yes, 'x'.repeat(101)))
  expect(message.endsWith(`it has no request "${'x'.repeat(100)}"`)).toBe(true)
})

const DAY_MS = 86_400_000
const expiring = () => asked(sendTool({ approvalTtlMs: DAY_MS }))

test('a request can be answered until its time is over, to the millisecond', async () => {
  const early = await expiring()
  expect(early.request.expiresAt).toBe(1_700_000_000_000 + DAY_MS)
  await early.clock.advance(DAY_MS - 1)
  await early.answer({ decision: 'approve', resume: false })
  await early.clock.advance(1)
  // It was answered in time: who comes later reads that, and not that the time is over.
  expect(await refusal(early.answer({ decision: 'deny' }))).toEqual([
    'already-decided',
    expect.stringContaining(
      `request ${early.requestId} was decided at 2023-11-15T22:13:19.999Z: approve`,
    ),
  ])
  const late = await expiring()
  await late.clock.advance(DAY_MS)
  expect(await refusal(late.answer({ decision: 'approve' }))).toEqual([
    'expired',
    expect.stringContaining(
      `the time to answer request ${late.requestId} was over at 2023-11-15T22:13:20.000Z`,
    ),
  ])
  expect((await late.store.getRequest('s', late.requestId))?.resolution).toBeUndefined()
})

test('a run that finds a request expired says so to the model, and when', async () => {
  const parts = await expiring()
  const { clock, agent, executor, requestId } = parts
  await clock.advance(DAY_MS)
  await (await executor.resume(agent, 's')).result()
  expect(textOfResult((await storedMessages(parts)).at(-2))).toContain(
    'Nobody approved this call in time: it was not run.',
  )
  expect(await refusal(parts.answer({ decision: 'approve' }))).toEqual([
    'expired',
    expect.stringContaining('was over at 2023-11-15T22:13:20.000Z'),
  ])
  expect((await parts.store.getRequest('s', requestId))?.resolution).toEqual({
    decision: 'expired',
    at: clock.now(),
  })
})

test('who has decided is told, to the next one and on the stream', async () => {
  const parts = await asked()
  const denial = { decision: 'deny', reason: 'not today', by: 'ada' }
  const { handle, request } = await parts.answer(denial)
  expect(request.resolution).toEqual({ ...denial, at: 1_700_000_000_000 })
  await handle?.result()
  const told: unknown[] = []
  for await (const { type, ...chunk } of handle!.stream()) {
    if (type === 'approval_resolved') told.push(chunk)
  }
  expect(told).toEqual([
    expect.objectContaining({
      requestId: parts.requestId,
      toolCallId: 'a',
      decision: 'deny',
      by: 'ada',
      reason: 'not today',
    }),
  ])
  expect(textOfResult((await storedMessages(parts)).at(-2))).toContain(
    'The user denied this call, it was not run: not today',
  )
  const [, message] = await refusal(parts.answer({ decision: 'approve' }))
  expect(message).toContain('was decided by ada at 2023-11-14T22:13:20.000Z: deny')
})

test('an answer without a name or a reason has neither on the stream', async () => {
  const parts = await asked()
  const { handle } = await parts.answer({ decision: 'deny' })
  await handle?.result()
  for await (const chunk of handle!.stream()) {
    if (chunk.type !== 'approval_resolved') continue
    expect(Object.keys(chunk)).not.toContain('by')
    expect(Object.keys(chunk)).not.toContain('reason')
  }
  const text = textOfResult((await storedMessages(parts)).at(-2))
  expect(text).toContain('The user denied this call, it was not run\n')
})

test('an answer that is not to go on leaves the session waiting', async () => {
  const parts = await asked()
  const answered = await parts.answer({ decision: 'approve', resume: false })
  expect(answered).not.toHaveProperty('handle')
  expect(await parts.store.loadSession('s')).toMatchObject({ status: 'waiting' })
})
