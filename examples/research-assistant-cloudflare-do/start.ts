// Runs the Worker in workerd on this machine, and again when it crashes. Ends with Ctrl+C.
import { appendFileSync, mkdirSync, rmSync } from 'node:fs'
import { announce, dataFolder, localToken, logFile, serverFile } from './local-server.ts'
import { startLocalWorker } from './local-worker.ts'

const folder = dataFolder()
const vars = { RESEARCH_TOKEN: localToken }
const stopping = new AbortController()

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop)
// The program that has forked this one is gone.
process.on('disconnect', stop)

try {
  mkdirSync(folder, { recursive: true })
  await superviseWorker(Number(process.env.PORT ?? 8787))
} catch (error) {
  // Stopped before the Worker has answered.
  if (error !== stopping.signal.reason) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  }
} finally {
  rmSync(serverFile(folder), { force: true })
  if (process.connected) process.disconnect()
}

/** Clients come back to the same address. */
async function superviseWorker(port: number): Promise<void> {
  const { signal } = stopping
  const entry = 'src/worker.ts'
  const worker = await startLocalWorker({ entry, folder, port, vars, onLine: log, signal })
  const { url, pid, exit } = worker
  announce(folder, { url, pid })
  log(`[start] the research assistant listens on ${url}, stored in ${folder}`)
  await exit
  if (signal.aborted) return
  log('[start] workerd has died; it is started again on the same folder')
  await superviseWorker(Number(new URL(url).port))
}

/** The second time it does not wait. */
function stop(): void {
  if (stopping.signal.aborted) process.exit(1)
  stopping.abort()
}

function log(line: string): void {
  console.log(line)
  appendFileSync(logFile(folder), `${line}\n`)
}
