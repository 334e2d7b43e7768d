// Plays the chat without a socket: two turns, a restart of the server, and one more.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { UIMessage } from 'ai'
import { createChatClient, textOf } from './client.ts'
import { openChat } from './open-chat.ts'

const folder = mkdtempSync(join(tmpdir(), 'helix-chat-'))
try {
  await talk(['Buy oranges.', 'Call Ada on Friday.'])
  console.log('the server is started again')
  await talk(['Water the plants.'])
} finally {
  rmSync(folder, { recursive: true, force: true })
}

async function talk(texts: readonly string[]): Promise<void> {
  const chat = await openChat(folder)
  const client = createChatClient('demo', async (address, init) => chat.app.request(address, init))
  const history = await client.history()
  console.log(`the page shows ${history.length} messages`)
  for (const text of texts) {
    console.log(`user   ${text}`)
    let pieces = 0
    let answer: UIMessage | undefined
    for await (const message of client.send(text)) {
      answer = message
      pieces += 1
    }
    for (const part of answer?.parts ?? []) {
      if (part.type === 'text') console.log(`agent  ${part.text}`)
      if (part.type === 'dynamic-tool') console.log(`  ${part.toolName} ${part.state}`)
    }
    if (pieces < 10) throw new Error(`"${textOf(answer)}" did not come piece by piece`)
  }
  await chat.close()
}
