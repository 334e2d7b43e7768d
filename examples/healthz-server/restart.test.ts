// The server as a process: what signals and crashes leave, and what the next process finds.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SequencedChunk } from '@helix-agents/core/runtime'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { followSession } from './client.ts'
import { type ServerProcess, startServerProcess } from './server-process.ts'

let folder = ''
const started: ServerProcess[] = []

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'helix-healthz-test-'))
})

afterEach(async () => {
  for (const server of started.splice(0)) {
    server.signal('SIGKILL')
    await server.exit
  }
  rmSync(folder, { recursive: true, force: true })
})

async function start(env: Readonly<Record<string, string>> = {}): Promise<ServerProcess> {
  const server = await startServerProcess({ HELIX_FOLDER: folder, ...env })
  started.push(server)
  return server
}

async function post(server: ServerProcess, path: string, body: object = {}): Promise<number> {
  const init = {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
  }
  return (await fetch(server.url + path, init)).status
}

interface Reading {
  readonly chunks: SequencedChunk[]
  readonly isComplete: boolean
}

/** Reads the stream of the session `s` until it ends, breaks, or `onRow` says so. */
async function read(
  server: ServerProcess,
  last?: number,
  onRow?: (row: number) => void,
): Promise<Reading> {
  const stream = followSession(`${server.url}/sessions/s/stream`, last)
  const chunks: SequencedChunk[] = []
  try {
    for (let next = await stream.next(); ; next = await stream.next()) {
      if (next.done === true) return { chunks, isComplete: next.value }
      chunks.push(next.value)
      if (next.value.type !== 'tool_progress') continue
      for (const row of next.value.text.matchAll(/row (\d+)/g)) onRow?.(Number(row[1]))
    }
  } catch {
    return { chunks, isComplete: false }
  }
}

/** The rows that the model found when it first looked. */
function firstCheck(chunks: readonly SequencedChunk[]): number {
  const ends = chunks.filter((chunk) => chunk.type === 'tool_end')
  const result = ends.find(({ toolCallId }) => toolCallId.startsWith('check'))?.result
  return Number.parseInt((result as { stdout: string }).stdout, 10)
}

const sequences = (chunks: readonly SequencedChunk[]) => chunks.map(({ sequence }) => sequence)
const upTo = (count: number) => Array.from({ length: count }, (_, i) => i + 1)

test('SIGTERM keeps the files of a run, and the next process resumes it', async () => {
  const first = await start({ HELIX_SHUTDOWN_MS: '200' })
  await post(first, '/sessions', { sessionId: 's', message: 'Count to 15.' })
  const before = await read(first, undefined, (row) => row === 3 && first.signal('SIGTERM'))
  expect(before.isComplete).toBe(false)
  expect(await first.exit).toEqual({ code: 0, signal: null })

  const second = await start()
  expect(await (await fetch(`${second.url}/sessions/s`)).json()).toMatchObject({
    status: 'running',
    workspaces: [{ provider: 'local-bash' }],
  })
  const after = await read(second, before.chunks.at(-1)?.sequence)
  expect(after.isComplete).toBe(true)
  const all = [...before.chunks, ...after.chunks]
  expect(sequences(all)).toEqual(upTo(all.length))
  expect(all.at(-1)).toMatchObject({ type: 'output', output: 'I have counted to 15.' })
  expect(firstCheck(all)).toBeGreaterThanOrEqual(3)
}, 120_000)

test('after kill -9 the next process takes the session over by itself', async () => {
  const env = { HELIX_LEASE_MS: '500' }
  const first = await start(env)
  await post(first, '/sessions', { sessionId: 's', message: 'Count to 15.' })
  const before = await read(first, undefined, (row) => row === 3 && first.signal('SIGKILL'))
  expect(await first.exit).toEqual({ code: null, signal: 'SIGKILL' })

  const second = await start(env)
  // The client is back before the lease of the first process is out.
  const reading = read(second, before.chunks.at(-1)?.sequence)
  await second.says('session resumed in this process')
  const after = await reading
  expect(after.isComplete).toBe(true)
  const all = [...before.chunks, ...after.chunks]
  expect(sequences(all)).toEqual(upTo(all.length))
  expect(all.at(-1)).toMatchObject({ type: 'output', output: 'I have counted to 15.' })
}, 120_000)

test('a second signal does not wait', async () => {
  const server = await start({ HELIX_SHUTDOWN_MS: '600000' })
  await post(server, '/sessions', { sessionId: 's', message: 'Count to 1000.' })
  await read(server, undefined, (row) => row === 1 && server.signal('SIGTERM'))
  await server.says('"stopping"')
  server.signal('SIGTERM')
  expect(await server.exit).toEqual({ code: 143, signal: null })
}, 120_000)

test('a server with nothing to do ends at once', async () => {
  const server = await start()
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
  server.signal('SIGINT')
  expect(await server.exit).toEqual({ code: 0, signal: null })
}, 120_000)

test('a client that leaves does not end the run', async () => {
  const server = await start()
  await post(server, '/sessions', { sessionId: 's', message: 'Count to 8.' })
  const stream = followSession(`${server.url}/sessions/s/stream`)
  await stream.next()
  await stream.return(false)
  const { chunks, isComplete } = await read(server)
  expect(isComplete).toBe(true)
  expect(chunks.at(-1)).toMatchObject({ type: 'output', output: 'I have counted to 8.' })
}, 120_000)

test('what is wrong with the environment is said', async () => {
  await expect(start({ HOST: '0.0.0.0' })).rejects.toThrow(/HELIX_TOKEN: is required/)
}, 120_000)
