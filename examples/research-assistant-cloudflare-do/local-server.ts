import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** Of the Worker on this machine. A deployed one gets its own: `wrangler secret put`. */
export const localToken = process.env.RESEARCH_TOKEN ?? 'local-token'

/** What `start.ts` tells whoever talks to its Worker. */
export interface LocalServer {
  readonly url: string
  /** Group of processes that a crash would take along. */
  readonly pid: number
}

const POLL_MS = 50

export function dataFolder(): string {
  return resolve(process.env.RESEARCH_FOLDER ?? join(import.meta.dirname, '.data'))
}

export function logFile(folder: string): string {
  return join(folder, 'worker.log')
}

export function serverFile(folder: string): string {
  return join(folder, 'server.json')
}

/** A reader never sees half of it. */
export function announce(folder: string, server: LocalServer): void {
  const file = serverFile(folder)
  writeFileSync(`${file}.new`, JSON.stringify(server))
  renameSync(`${file}.new`, file)
}

/** `undefined`: none is running on the folder. */
export function findServer(folder: string): LocalServer | undefined {
  const file = serverFile(folder)
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as LocalServer) : undefined
}

/** Looks again and again. @throws {Error} when there is nothing to be found for so long. */
export async function waitFor<T>(
  what: string,
  find: () => T | undefined,
  timeoutMs: number,
): Promise<T> {
  const end = performance.now() + timeoutMs
  for (let found = find(); ; found = find()) {
    if (found !== undefined) return found
    if (performance.now() > end) throw new Error(`waited ${timeoutMs} ms for ${what}`)
    await sleep(POLL_MS)
  }
}
