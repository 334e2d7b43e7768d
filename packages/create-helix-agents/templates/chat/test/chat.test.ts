import { deepEqual, equal, match } from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Chat } from '@ai-sdk/react'
import { requestOf } from '@helix-agents/ai-sdk'
import type { UIMessage } from 'ai'
import type { Hono } from 'hono'
import { chatOptions, edits, textOf } from '../page/transport.ts'
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

const storedIn = async (app: Hono): Promise<UIMessage[]> =>
  (await (await app.request(`${address}/api/chat/test`)).json()) as UIMessage[]

/** What `useChat` keeps for the page, without React. */
async function openPage(app: Hono): Promise<Chat<UIMessage>> {
  const options = chatOptions('test', async (path, init) => {
    const url = new URL(path instanceof Request ? path.url : path, address)
    return app.request(url, init)
  })
  return new Chat({ ...options, messages: await storedIn(app) })
}

async function say(page: Chat<UIMessage>, text: string): Promise<string> {
  await page.sendMessage({ text })
  return textOf(page.lastMessage)
}

const callsOf = (page: Chat<UIMessage>) =>
  page.lastMessage?.parts.flatMap((part) =>
    part.type === 'dynamic-tool' ? [[part.toolName.split('__').at(-1), part.state]] : [],
  )

/** The request that the last message waits with. */
function openRequest(page: Chat<UIMessage>) {
  const part = page.lastMessage?.parts.find(
    (one) => 'state' in one && one.state === 'approval-requested',
  )
  const request = part && requestOf(part)
  if (request === undefined) throw new Error('nothing is asked')
  return request
}

test('an answer has its tool calls and its text, and a restarted server knows the chat', async (context) => {
  const folder = makeFolder(context)
  const page = await openPage(await openApp(context, folder))
  match(await say(page, 'Buy oranges'), /^Written down\. Notes so far: 1\./)
  deepEqual(callsOf(page), [
    ['write_file', 'output-available'],
    ['ls', 'output-available'],
  ])
  const restarted = await openPage(await openApp(context, folder))
  equal(textOf(restarted.messages[0]), 'Buy oranges')
  match(await say(restarted, 'Call Ada'), /Notes so far: 2\./)
})

test('a change waits over a restart, shows its diff, and is made once it is approved', async (context) => {
  const folder = makeFolder(context)
  const first = await openPage(await openApp(context, folder))
  await say(first, 'Buy oranges')
  await say(first, 'Change note 1 to Buy apples')
  deepEqual(callsOf(first)?.at(-1), ['edit_file', 'approval-requested'])

  const app = await openApp(context, folder)
  const page = await openPage(app)
  const { requestId, preview } = openRequest(page)
  match(preview.body ?? '', /^-Buy oranges\n\+Buy apples$/m)
  await page.addToolApprovalResponse({ id: requestId, approved: true })
  await ready(page)
  equal(textOf(page.lastMessage), 'Changed.')
  deepEqual((await storedIn(app)).map(textOf), page.messages.map(textOf))
})

test('a denial is read with its reason, and an edited change is what runs', async (context) => {
  const app = await openApp(context)
  const page = await openPage(app)
  await say(page, 'Buy oranges')
  await say(page, 'Change note 1 to Buy apples')
  const denied = openRequest(page)
  await page.addToolApprovalResponse({ id: denied.requestId, approved: false, reason: 'No.' })
  await ready(page)
  match(textOf(page.lastMessage), /^Not changed: .*No\./)

  await say(page, 'Change note 1 to Buy apples')
  const edited = openRequest(page)
  edits.set(edited.requestId, { path: '/notes/1.md', oldText: 'Buy oranges', newText: 'Buy pears' })
  await page.addToolApprovalResponse({ id: edited.requestId, approved: true })
  await ready(page)
  equal(textOf(page.lastMessage), 'Changed.')
  await say(page, 'Change note 1 to Buy plums')
  match(openRequest(page).preview.body ?? '', /^-Buy pears$/m)
})

test('an edit that the tool rejects leaves the call open; a stopped chat goes on', async (context) => {
  const app = await openApp(context)
  const page = await openPage(app)
  await say(page, 'Buy oranges')
  await say(page, 'Change note 1 to Buy apples')
  const { requestId } = openRequest(page)
  edits.set(requestId, { path: 1 })
  await page.addToolApprovalResponse({ id: requestId, approved: true })
  await ready(page)
  match(page.error?.message ?? '', /input\.path/)
  page.messages = await storedIn(app)
  equal(openRequest(page).requestId, requestId)

  const init = { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } }
  await app.request(`${address}/api/chat/test/stop`, init)
  match(await say(await openPage(app), 'Call Ada'), /^Written down/)
})

/** An answer is sent by itself. */
async function ready(page: Chat<UIMessage>): Promise<void> {
  while (page.status === 'submitted' || page.status === 'streaming') {
    await new Promise((resolve) => setImmediate(resolve))
  }
}

test('the page is bundled', async (context) => {
  const app = await openApp(context)
  await addPage(app)
  match(await (await app.request(`${address}/`)).text(), /<div id="chat">/)
  match(await (await app.request(`${address}/main.js`)).text(), /api\/chat/)
})

for (const [what, body, headers, status] of [
  ['a turn of no text', '{"id":"a","text":""}', {}, 400],
  ['an answer to nothing', '{"id":"a","answers":[{"requestId":"b","decision":"deny"}]}', {}, 404],
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
