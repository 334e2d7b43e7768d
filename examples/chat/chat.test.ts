import {
  defineAgent,
  defineTool,
  type LLMAdapter,
  MockLLMAdapter,
  type Tool,
} from '@helix-agents/core'
import { JSAgentExecutor } from '@helix-agents/runtime-js'
import { requestOf } from '@helix-agents/ai-sdk'
import { openSqliteStores } from '@helix-agents/store-sqlite'
import type { Hono } from 'hono'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { createChatApp } from './app.ts'
import { ChatClient, textOf } from './client.ts'

const json = { 'content-type': 'application/json' }
const page = { html: '<!doctype html>', script: '', style: '' }

async function openApp(model: LLMAdapter, tools: readonly Tool[] = []): Promise<Hono> {
  const { stateStore, streamManager } = await openSqliteStores(':memory:')
  const executor = new JSAgentExecutor(stateStore, streamManager, model)
  const agent = defineAgent({ name: 'a', llmConfig: { model: 'scripted' }, tools })
  return createChatApp({ agent, executor, stateStore, page })
}

function clientOf(app: Hono, id: string): ChatClient {
  return new ChatClient(id, { fetch: async (address, init) => app.request(address, init) })
}

async function storedIn(app: Hono, id: string): Promise<unknown> {
  return (await app.request(`/api/chat/${id}`)).json()
}

const nothing = { status: 'idle', messages: [], queued: [] }

test('an answer is shown to a page that comes later, and while it is given no other is begun', async () => {
  const isAsked = Promise.withResolvers<void>()
  const mayAnswer = Promise.withResolvers<void>()
  const model = new MockLLMAdapter([
    async ({ callbacks }) => {
      callbacks.onTextDelta?.('Hel')
      isAsked.resolve()
      await mayAnswer.promise
      callbacks.onTextDelta?.('lo')
      return { type: 'text', content: 'Hello', shouldStop: true }
    },
  ])
  const app = await openApp(model)
  const first = clientOf(app, 'demo')
  const said = first.say('Hi')
  await isAsked.promise
  const body = JSON.stringify({ id: 'demo', text: 'And?' })
  const refused = await app.request('/api/chat', { method: 'POST', body, headers: json })
  expect(refused.status).toBe(409)
  expect(await refused.json()).toEqual({
    error: { code: 'already-running', message: 'the answer before is not finished' },
  })
  const again = clientOf(app, 'demo').say('And?')
  await expect(again).rejects.toThrow(/^the answer before is not finished$/)
  const second = clientOf(app, 'demo')
  await second.refresh()
  expect(second.messages.map(({ role }) => role)).toEqual(['user'])
  const resumed = second.load()
  mayAnswer.resolve()
  await Promise.all([said, resumed])
  for (const { messages } of [first, second]) {
    expect(messages.map(textOf)).toEqual(['Hi', 'Hello'])
  }
})

test('a page that comes in the second step shows each part once', async () => {
  const isAsked = Promise.withResolvers<void>()
  const mayAnswer = Promise.withResolvers<void>()
  const call = { id: '1', name: 'missing', arguments: {} }
  const model = new MockLLMAdapter([
    { type: 'tool_calls', content: 'Well.', toolCalls: [call] },
    async () => {
      isAsked.resolve()
      await mayAnswer.promise
      return { type: 'text', content: 'Done.', shouldStop: true }
    },
  ])
  const app = await openApp(model)
  const said = clientOf(app, 'demo').say('Hi')
  await isAsked.promise
  const ends: number[] = []
  const late = new ChatClient('demo', {
    fetch: async (address, init) => app.request(address, init),
    onChange: () => ends.push(late.messages.length),
  })
  const loaded = late.load()
  mayAnswer.resolve()
  await Promise.all([said, loaded])
  expect(Math.max(...ends)).toBe(2)
  expect(late.messages.map(textOf)).toEqual(['Hi', 'Well.Done.'])
})

test('an answer is stopped, and the next turn begins', async () => {
  const isAsked = Promise.withResolvers<void>()
  const model = new MockLLMAdapter([
    async ({ abortSignal }) => {
      isAsked.resolve()
      await new Promise((resolve) => abortSignal.addEventListener('abort', resolve))
      throw abortSignal.reason
    },
    { type: 'text', content: 'Again.', shouldStop: true },
  ])
  const app = await openApp(model)
  const client = clientOf(app, 'demo')
  const said = client.say('Hi')
  await isAsked.promise
  await client.stopAgent()
  await said
  expect(client).toMatchObject({ sessionStatus: 'aborted', isWorking: false, error: undefined })
  await client.stopAgent()
  await client.say('And?')
  expect(client.sessionStatus).toBe('completed')
  expect(client.messages.map(textOf)).toEqual(['Hi', 'And?', 'Again.'])
})

/** Asks before it pays; remembers what it has paid. */
function payTool() {
  const paid: unknown[] = []
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    inputSchema: z.object({ amount: z.number() }),
    needsApproval: true,
    execute: (input) => void paid.push(input),
  })
  return { pay, paid }
}

const payAndSay = () =>
  new MockLLMAdapter([
    {
      type: 'tool_calls',
      content: 'I pay.',
      toolCalls: [{ id: '1', name: 'pay', arguments: { amount: 5 } }],
    },
    { type: 'text', content: 'Done.', shouldStop: true },
  ])

const statesOf = ({ lastMessage }: ChatClient) =>
  lastMessage?.parts.flatMap((part) => (part.type === 'dynamic-tool' ? [part.state] : []))

function requestIdOf({ lastMessage }: ChatClient): string {
  const request = lastMessage?.parts.map(requestOf).find((found) => found !== undefined)
  return request?.requestId ?? ''
}

test.each([
  [{ approved: true }, 'output-available', [{ amount: 5 }]],
  [{ approved: true, input: { amount: 3 } }, 'output-available', [{ amount: 3 }]],
  [{ approved: false, reason: 'too much' }, 'output-denied', []],
] as const)('a call that waits is decided: %j', async (decision, state, expected) => {
  const { pay, paid } = payTool()
  const app = await openApp(payAndSay(), [pay])
  const client = clientOf(app, 'demo')
  const seen = new Set<string>()
  await client.say('Pay.')
  expect(statesOf(client)).toEqual(['approval-requested'])
  // Another page sees the same.
  const other = new ChatClient('demo', {
    fetch: async (address, init) => app.request(address, init),
    onChange: () => statesOf(other)?.forEach((one) => seen.add(one)),
  })
  await other.load()
  expect(other.messages).toEqual(client.messages)
  await other.decide(requestIdOf(other), decision)
  expect(paid).toEqual(expected)
  expect(seen).toContain(state)
  expect(other.messages.map(textOf)).toEqual(['Pay.', 'I pay.Done.'])
  // The first page is too late, is told so, and shows what has become of it.
  const late = client.decide(requestIdOf(client), { approved: true })
  await expect(late).rejects.toThrow(/was decided at .*: (?:approve|deny)/)
  expect(client.messages).toEqual(other.messages)
  expect(paid).toEqual(expected)
})

test('an edited input that is not valid leaves the call open', async () => {
  const { pay, paid } = payTool()
  const client = clientOf(await openApp(payAndSay(), [pay]), 'demo')
  await client.say('Pay.')
  const requestId = requestIdOf(client)
  const invalid = client.decide(requestId, { approved: true, input: { amount: 'x' } })
  await expect(invalid).rejects.toThrow(/input\.amount/)
  await client.refresh()
  expect([statesOf(client), paid]).toEqual([['approval-requested'], []])
  const unknown = client.decide('x', { approved: true, input: {} })
  await expect(unknown).rejects.toThrow(/it has no request "x"/)
  await expect(client.say('And?')).rejects.toThrow(/waits/)
  await client.stopAgent()
  expect(client.sessionStatus).toBe('aborted')
})

test('a run that fails is an error of the chat', async () => {
  const client = clientOf(await openApp(new MockLLMAdapter([])), 'demo')
  await expect(client.say('Hi')).rejects.toThrow(/./)
})

test.each(['', '{', '{}', '{"id":"../x","text":"a"}', '{"id":"a","text":""}'])(
  'what is no turn is refused: %s',
  async (body) => {
    const app = await openApp(new MockLLMAdapter([]))
    const init = { method: 'POST', body, headers: json }
    const refused = await app.request('/api/chat', init)
    const error = { code: 'invalid-request', message: expect.any(String) }
    expect([refused.status, await refused.json()]).toEqual([400, { error }])
    expect(await storedIn(app, 'a')).toEqual(nothing)
  },
)

test.each(['text/plain', 'application/x-www-form-urlencoded'])(
  'what a page of another site can send is refused: %s',
  async (type) => {
    const app = await openApp(new MockLLMAdapter([]))
    const init = {
      method: 'POST',
      body: '{"id":"a","text":"Hi"}',
      headers: { 'content-type': type },
    }
    expect((await app.request('/api/chat', init)).status).toBe(415)
    expect(await storedIn(app, 'a')).toEqual(nothing)
  },
)

test.each([
  ['https://evil.example', 403],
  ['null', 403],
  ['http://localhost', 200],
])('a turn of a page of %s is %i', async (origin, status) => {
  const app = await openApp(new MockLLMAdapter([{ type: 'text', content: 'Hi', shouldStop: true }]))
  const init = { method: 'POST', body: '{"id":"a","text":"Hi"}', headers: { ...json, origin } }
  const response = await app.request('/api/chat', init)
  await response.text()
  expect(response.status).toBe(status)
})

test.each([
  ['http://localhost:8788', 200],
  ['http://127.0.0.1:8788', 200],
  ['http://[::1]:8788', 200],
  ['http://evil.example:8788', 403],
  ['http://127.0.0.1.evil.example', 403],
])('a name that leads to this machine: %s is %i', async (url, status) => {
  const app = await openApp(new MockLLMAdapter([]))
  for (const path of ['/', '/api/chat/a']) {
    expect((await app.request(url + path)).status).toBe(status)
  }
})

test.each(['x'.repeat(65), 'x'.repeat(100_000), 'a%20b', '..%2fa'])(
  'an id that is none is refused: %.20s',
  async (id) => {
    const app = await openApp(new MockLLMAdapter([]))
    for (const path of ['', '/stream']) {
      const response = await app.request(`/api/chat/${id}${path}`)
      const body = (await response.json()) as { error: { code: string } }
      expect([response.status, body.error.code]).toEqual([400, 'invalid-session-id'])
    }
  },
)

test('a body that is too large is refused', async () => {
  const app = await openApp(new MockLLMAdapter([]))
  const init = { method: 'POST', body: `{"id":"${'a'.repeat(100_000)}"}`, headers: json }
  expect((await app.request('/api/chat', init)).status).toBe(413)
})
