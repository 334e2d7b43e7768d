// npm start: the Worker with its containers at http://127.0.0.1:8787 until Ctrl+C
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { findEngine, openWorker } from './open-worker.ts'

if (existsSync('.env')) process.loadEnvFile('.env')
const { API_TOKEN = 'local', PORT = '8787' } = process.env

/** What names a model: see .env.example. */
function modelVariables(): Record<string, string> {
  const isWanted = /^MODEL(?:_|$)|_(?:API_KEY|BASE_URL)$/
  const entries = Object.entries(process.env).filter(([name]) => isWanted.test(name))
  return Object.fromEntries(entries.map(([name, value = '']) => [name, value]))
}

try {
  const engine = await findEngine()
  const worker = await openWorker({
    engine,
    port: Number(PORT),
    folder: join(import.meta.dirname, '../.data'),
    variables: { ...modelVariables(), API_TOKEN },
  })
  console.log(`model: ${process.env.MODEL || 'scripted (.env.example shows how to set another)'}`)
  console.log(`containers: ${engine === 'docker' ? 'Docker' : 'processes in private roots'}`)
  console.log(`${worker.url.href}   Talk to it: npm run talk -- "Buy oranges"`)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void worker.stop().finally(() => process.exit(0)))
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
