import { defineTool } from '@helix-agents/core'
import { describe, expect, test } from 'vitest'
import { createGate, createHarness, type Harness, json, say, use, waitThenSay } from './harness.ts'

interface View {
  readonly requestId: string
  readonly toolName: string
  readonly preview: object
}

/** A session whose tool `pay` asks before it runs; what it was run with. */
async function waiting(sessionId = 's'): Promise<Harness & { readonly paid: unknown[] }> {
  const paid: unknown[] = []
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    inputSchema: {
      type: 'object',
      properties: { amount: { type: 'number' } },
      required: ['amount'],
    },
    needsApproval: true,
    execute: (input) => {
      paid.push(input)
      return 'paid'
    },
  })
  const harness = createHarness({
    tools: [pay],
    brain: (messages) =>
      messages.at(-1)?.role === 'tool'
        ? say(`it says ${JSON.stringify(messages.at(-1)?.content)}`)
        : use('pay', { amount: 5 }),
  })
  await harness.post('/sessions', { message: 'pay', sessionId })
  expect(await harness.ended(sessionId)).toBe('waiting')
  return { ...harness, paid }
}

async function requestOf({ get }: Harness, sessionId = 's'): Promise<View> {
  const { body } = await json<{ items: View[] }>(get(`/sessions/${sessionId}/requests?state=open`))
  const [request] = body.items
  if (request === undefined) throw new Error('no request')
  return request
}

describe('a call that waits for a person', () => {
  test('is shown, approved once, and goes on', async () => {
    const harness = await waiting()
    const { requestId, toolName, preview } = await requestOf(harness)
    expect([toolName, 'basis' in preview]).toEqual(['pay', false])
    const path = `/sessions/s/requests/${requestId}`
    expect(await json(harness.get(path))).toMatchObject({ status: 200, body: { requestId } })
    const answer = { decision: 'approve' }
    const first = await json(harness.post(path, answer))
    expect(first).toMatchObject({
      status: 202,
      body: { sessionId: 's', runId: expect.any(String), request: { resolution: answer } },
    })
    expect(await harness.ended('s')).toBe('completed')
    expect(harness.paid).toEqual([{ amount: 5 }])
    expect(await json(harness.post(path, answer))).toMatchObject({
      status: 409,
      body: { error: { code: 'already-decided' } },
    })
    expect(harness.paid).toHaveLength(1)
  })

  test('is denied, or runs with the input that was edited', async () => {
    const denied = await waiting()
    const { requestId } = await requestOf(denied)
    await denied.post(`/sessions/s/requests/${requestId}`, { decision: 'deny', reason: 'too much' })
    expect(await denied.ended('s')).toBe('completed')
    expect(denied.paid).toEqual([])
    expect(JSON.stringify((await json(denied.get('/sessions/s/messages'))).body)).toContain(
      'too much',
    )
    const edited = await waiting()
    const path = `/sessions/s/requests/${(await requestOf(edited)).requestId}`
    expect(
      await json(edited.post(path, { decision: 'approve', input: { amount: 'all' } })),
    ).toMatchObject({
      status: 400,
      body: { error: { code: 'invalid-answer' } },
    })
    await edited.post(path, { decision: 'approve', input: { amount: 1 } })
    expect(await edited.ended('s')).toBe('completed')
    expect(edited.paid).toEqual([{ amount: 1 }])
  })

  test('of another session, an unknown one and a bad answer are rejected', async () => {
    const harness = await waiting()
    const { requestId } = await requestOf(harness)
    await harness.post('/sessions', { message: 'pay', sessionId: 'other' })
    await harness.ended('other')
    const answer = { decision: 'approve' }
    for (const path of [`/sessions/other/requests/${requestId}`, '/sessions/s/requests/unknown']) {
      expect([path, (await harness.post(path, answer)).status]).toEqual([path, 404])
      expect([path, (await harness.get(path)).status]).toEqual([path, 404])
    }
    for (const body of [{}, { decision: 'maybe' }, { ...answer, by: 'me' }]) {
      const { status } = await harness.post(`/sessions/s/requests/${requestId}`, body)
      expect([body, status]).toEqual([body, 400])
    }
    expect(harness.paid).toEqual([])
  })
})

test('a message with a delivery reaches the run under way', async () => {
  const gate = createGate()
  const { post, get, ended } = createHarness({ tools: [gate.tool], brain: waitThenSay })
  await post('/sessions', { message: 'go', sessionId: 's' })
  await gate.begun
  const steer = { message: 'not that way', delivery: 'steer', messageId: 'm-1' }
  expect(await json(post('/sessions/s/messages', steer))).toMatchObject({
    status: 202,
    body: { messageId: 'm-1' },
  })
  gate.open()
  expect(await ended('s')).toBe('completed')
  const { body } = await json<{ messages: { role: string; content: unknown }[] }>(
    get('/sessions/s/messages'),
  )
  expect(body.messages.filter(({ role }) => role === 'user').map(({ content }) => content)).toEqual(
    ['go', 'not that way'],
  )
})
