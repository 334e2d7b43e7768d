// Plays the chat without a socket: two turns, a restart of the server, and two more; one is asked about.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { requestOf } from '@helix-agents/ai-sdk'
import { ChatClient, textOf } from './client.ts'
import { openChat } from './open-chat.ts'

const folder = mkdtempSync(join(tmpdir(), 'helix-chat-'))
try {
  await talk(['Buy oranges.', 'Call Ada on Friday.'])
  console.log('the server is started again')
  await talk(['Water the plants.', 'Change note 1 to Buy apples.'])
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** What a user would decide by its diff. */
async function approveAll(client: ChatClient): Promise<void> {
  for (const part of client.lastMessage?.parts ?? []) {
    const request = requestOf(part)
    if (request === undefined || request.resolution !== undefined) continue
    console.log(`asks   ${request.preview.title}\n${request.preview.body ?? ''}`)
    await client.decide(request.requestId, { approved: true })
    console.log('user   approves')
  }
}

async function talk(texts: readonly string[]): Promise<void> {
  const chat = await openChat(folder)
  let changes = 0
  const client = new ChatClient('demo', {
    fetch: async (address, init) => chat.app.request(address, init),
    onChange: () => (changes += 1),
  })
  await client.load()
  console.log(`the page shows ${client.messages.length} messages`)
  for (const text of texts) {
    console.log(`user   ${text}`)
    changes = 0
    await client.say(text)
    await approveAll(client)
    const answer = client.lastMessage
    for (const part of answer?.parts ?? []) {
      if (part.type === 'text') console.log(`agent  ${part.text}`)
      if (part.type === 'dynamic-tool') console.log(`  ${part.toolName} ${part.state}`)
    }
    if (changes < 10) throw new Error(`"${textOf(answer)}" did not come piece by piece`)
  }
  await chat.close()
}
