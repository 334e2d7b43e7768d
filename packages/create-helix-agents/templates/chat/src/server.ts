// npm start: serves the chat at http://127.0.0.1:3000 until Ctrl+C
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { serve } from '@hono/node-server'
import { createApp } from './app.ts'
import { openChat } from './open-chat.ts'
import { addPage } from './page.ts'

if (existsSync('.env')) process.loadEnvFile('.env')
const folder = join(import.meta.dirname, '../.data')
const chat = await openChat(folder, process.env).catch((error: Error) => {
  console.error(error.message)
  process.exit(2)
})
const app = createApp(chat)
await addPage(app)

// Only this machine: there is no login.
const options = { fetch: app.fetch, port: Number(process.env.PORT ?? 3000), hostname: '127.0.0.1' }
const server = serve(options, ({ port }) => {
  console.log(`model: ${chat.model ?? 'scripted (.env.example shows how to set another)'}`)
  console.log(`http://127.0.0.1:${port}`)
})

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    server.close()
    void chat.close().finally(() => process.exit(0))
  })
}
