import { defineAgent, type LLMAdapter, MockLLMAdapter } from '@helix-agents/core'
import { JSAgentExecutor } from '@helix-agents/runtime-js'
import { openSqliteStores } from '@helix-agents/store-sqlite'
import type { UIMessage } from 'ai'
import type { Hono } from 'hono'
import { expect, test } from 'vitest'
import { createChatApp } from './app.ts'
import { createChatClient, textOf } from './client.ts'

const json = { 'content-type': 'application/json' }
const page = { html: '<!doctype html>', script: '' }

async function openApp(model: LLMAdapter): Promise<Hono> {
  const { stateStore, streamManager } = await openSqliteStores(':memory:')
  const executor = new JSAgentExecutor(stateStore, streamManager, model)
  const agent = defineAgent({ name: 'a', llmConfig: { model: 'scripted' } })
  return createChatApp({ agent, executor, stateStore, page })
}

function clientOf(app: Hono, id: string) {
  return createChatClient(id, async (address, init) => app.request(address, init))
}

async function lastOf(messages: AsyncIterable<UIMessage>): Promise<UIMessage | undefined> {
  let last: UIMessage | undefined
  for await (const message of messages) last = message
  return last
}

test('an answer is shown to a page that comes later, and while it is given no other is begun', async () => {
  const isAsked = Promise.withResolvers<void>()
  const mayAnswer = Promise.withResolvers<void>()
  const model = new MockLLMAdapter([
    async ({ callbacks }) => {
      callbacks.onTextDelta?.('Hel')
      isAsked.resolve()
      await mayAnswer.promise
      callbacks.onTextDelta?.('lo')
      return { type: 'text', content: '', shouldStop: true }
    },
  ])
  const app = await openApp(model)
  const first = lastOf(clientOf(app, 'demo').send('Hi'))
  await isAsked.promise
  const second = clientOf(app, 'demo')
  const body = JSON.stringify({ id: 'demo', text: 'And?' })
  const refused = await app.request('/api/chat', { method: 'POST', body, headers: json })
  expect(refused.status).toBe(409)
  const shown = (await second.history()).map(({ role }) => role)
  expect(shown).toEqual(['user'])
  const resumed = lastOf(second.resume())
  mayAnswer.resolve()
  expect(textOf(await first)).toBe('Hello')
  expect(textOf(await resumed)).toBe('Hello')
  expect(await lastOf(second.resume())).toBeUndefined()
})

test('a run that fails is an error of the chat', async () => {
  const app = await openApp(new MockLLMAdapter([]))
  const answer = await lastOf(clientOf(app, 'demo').send('Hi')).catch(() => 'failed')
  expect(answer).toBe('failed')
})

test.each(['', '{', '{}', '{"id":"../x","text":"a"}', '{"id":"a","text":""}'])(
  'what is no turn is refused: %s',
  async (body) => {
    const app = await openApp(new MockLLMAdapter([]))
    const init = { method: 'POST', body, headers: json }
    expect((await app.request('/api/chat', init)).status).toBe(400)
    expect(await clientOf(app, 'a').history()).toEqual([])
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
    expect((await app.request('/api/chat', init)).status).toBe(400)
    expect(await clientOf(app, 'a').history()).toEqual([])
  },
)
