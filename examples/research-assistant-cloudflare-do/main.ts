// Both commands in one: a Worker on a folder of its own, the story, and nothing left behind.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findServer, logFile, waitFor } from './local-server.ts'
import { playStory } from './story.ts'

const START_MS = 120_000

if (import.meta.main) process.exitCode = await main()

async function main(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'helix-research-'))
  const env = { ...process.env, RESEARCH_FOLDER: folder, PORT: '0' }
  // What it prints is in its log. When this process ends, however it does, so does that one. Ctrl+C
  // reaches it through this process only: twice would be to stop without waiting.
  const options = { env, silent: true, detached: true }
  const server = fork(join(import.meta.dirname, 'start.ts'), options)
  const ended = once(server, 'exit')
  let isInterrupted = false
  const interrupt = (): void => {
    isInterrupted = true
    server.kill('SIGTERM')
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, interrupt)
  try {
    const isUp = () => (server.exitCode === null ? findServer(folder) : failStart())
    await waitFor('the Worker', isUp, START_MS)
    await playStory(folder, (line) => console.log(line))
    return 0
  } catch (error) {
    if (isInterrupted) return 130
    console.error(error instanceof Error ? error.message : error)
    const log = logFile(folder)
    if (existsSync(log)) console.error(`\nlog of the Worker:\n${readFileSync(log, 'utf8')}`)
    return 1
  } finally {
    server.kill('SIGTERM')
    await ended
    // What was stopped without waiting may still write for a moment.
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
  }
}

function failStart(): never {
  throw new Error('the Worker has ended')
}
