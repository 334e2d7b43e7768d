import { deepEqual, equal, match } from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { readUIMessageStream, type UIMessage } from 'ai'
import type { Hono } from 'hono'
import { createTransport, textOf } from '../page/transport.ts'
import { createApp } from '../src/app.ts'
import { openChat } from '../src/open-chat.ts'
import { addPage } from '../src/page.ts'

const address = 'http://localhost:3000'

/** The app on a new folder, without a socket. */
async function openApp(context: TestContext, folder = makeFolder(context)): Promise<Hono> {
  const chat = await openChat(folder, {})
  context.after(() => chat.close())
  return createApp(chat)
}

function makeFolder(context: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'chat-'))
  context.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** What the page does when the user sends a text. */
async function say(app: Hono, text: string): Promise<UIMessage | undefined> {
  const transport = createTransport(async (path, init) => {
    const url = new URL(path instanceof Request ? path.url : path, address)
    return app.request(url, init)
  })
  const message: UIMessage = { id: '1', role: 'user', parts: [{ type: 'text', text }] }
  const stream = await transport.sendMessages({
    chatId: 'test',
    messages: [message],
    trigger: 'submit-message',
    messageId: undefined,
    abortSignal: undefined,
  })
  let last: UIMessage | undefined
  for await (const one of readUIMessageStream({ stream, terminateOnError: true })) last = one
  return last
}

test('an answer has its tool calls and its text, and a restarted server knows the chat', async (context) => {
  const folder = makeFolder(context)
  const answer = await say(await openApp(context, folder), 'Buy oranges')
  match(textOf(answer), /^Written down\. Notes so far: 1\./)
  const calls = answer?.parts.filter((part) => part.type === 'dynamic-tool') ?? []
  deepEqual(
    calls.map(({ toolName, state }) => [toolName, state]),
    [
      ['workspace__notes__write_file', 'output-available'],
      ['workspace__notes__ls', 'output-available'],
    ],
  )
  const restarted = await openApp(context, folder)
  const history = (await (
    await restarted.request(`${address}/api/chat/test`)
  ).json()) as UIMessage[]
  equal(textOf(history[0]), 'Buy oranges')
  match(textOf(await say(restarted, 'Call Ada')), /Notes so far: 2\./)
})

test('the page is bundled', async (context) => {
  const app = await openApp(context)
  await addPage(app)
  match(await (await app.request(`${address}/`)).text(), /<div id="chat">/)
  match(await (await app.request(`${address}/main.js`)).text(), /api\/chat/)
})

for (const [what, body, headers, status] of [
  ['a turn of no text', '{"id":"a","text":""}', {}, 400],
  ['another site', '{"id":"a","text":"Hi"}', { origin: 'https://evil.example' }, 403],
  ['a form', 'id=a', { 'content-type': 'application/x-www-form-urlencoded' }, 403],
  ['another name', '{"id":"a","text":"Hi"}', { host: 'evil.example:3000' }, 403],
  ['a body that is too large', 'x'.repeat(100_000), {}, 413],
] as const) {
  test(`${what} is rejected with ${status}`, async (context) => {
    const app = await openApp(context)
    const all = { 'content-type': 'application/json', host: 'localhost:3000', ...headers }
    const init = { method: 'POST', body, headers: all }
    equal((await app.request(`${address}/api/chat`, init)).status, status)
  })
}
