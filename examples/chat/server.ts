// Serves the chat at http://127.0.0.1:8788. Ends with Ctrl+C.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { serve } from '@hono/node-server'
import { openChat } from './open-chat.ts'

/** Of a request with its body; answers may take longer. */
const REQUEST_TIMEOUT_MS = 30_000

const folder = process.env.CHAT_FOLDER ?? join(import.meta.dirname, '.data')
mkdirSync(folder, { recursive: true })
const chat = await openChat(folder, process.env).catch((error: Error) => {
  console.error(error.message)
  process.exit(2)
})
const port = Number(process.env.PORT ?? 8788)
// Only this machine: there is no login.
const serverOptions = { requestTimeout: REQUEST_TIMEOUT_MS }
const options = { fetch: chat.app.fetch, port, hostname: '127.0.0.1', serverOptions }
const server = serve(options, (address) => {
  console.log(`model: ${chat.model}\nhttp://127.0.0.1:${address.port}`)
})

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    server.close()
    void chat.close().finally(() => process.exit(0))
  })
}
