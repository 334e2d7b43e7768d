// npm start                       a conversation
// npm start -- "Write a poem"     one turn of it
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { openAssistant } from './open-assistant.ts'
import { printRun } from './print-run.ts'

if (existsSync('.env')) process.loadEnvFile('.env')
const sessionId = process.env.SESSION ?? 'main'
const folder = join(import.meta.dirname, '../.data')
const assistant = await openAssistant(folder, process.env).catch((error: Error) => {
  console.error(error.message)
  process.exit(2)
})
const { agent, executor } = assistant
console.log(`model: ${assistant.model ?? 'scripted (.env.example shows how to set another)'}`)

// Ctrl+C pauses a run; the next start continues it.
const pause = (): void => void assistant.close().finally(() => process.exit(130))
process.once('SIGINT', pause)

try {
  await continueLastRun()
  const message = process.argv.slice(2).join(' ')
  if (message === '') await converse()
  else if (!(await say(message))) process.exitCode = 1
} finally {
  await assistant.close()
}

/** What a crash or Ctrl+C left in the middle. */
async function continueLastRun(): Promise<void> {
  if ((await executor.getHandle(agent, sessionId)) === null) return
  const recovery = await executor.recover(agent, sessionId)
  if (recovery.outcome !== 'resumed') return
  console.log('The last answer was interrupted. It continues:')
  await printRun(recovery.handle, process.stdout)
}

async function converse(): Promise<void> {
  const lines = createInterface({ input: process.stdin, output: process.stdout, prompt: '> ' })
  let isOpen = true
  lines.once('close', () => (isOpen = false)).once('SIGINT', pause)
  lines.prompt()
  for await (const line of lines) {
    if (line.trim() !== '') await say(line)
    if (isOpen) lines.prompt()
  }
}

async function say(message: string): Promise<boolean> {
  return printRun(await executor.execute(agent, message, { sessionId }), process.stdout)
}
