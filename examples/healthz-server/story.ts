import type { SequencedChunk } from '@helix-agents/core/runtime'
import { followSession } from './client.ts'
import { type ServerProcess, startServerProcess } from './server-process.ts'

type Tell = (line: string) => void

const session = '/sessions/story'
const json = { 'content-type': 'application/json' }

/** @param folder outlives both servers. @throws {Error} when a step differs from the story. */
export async function playStory(folder: string, tell: Tell): Promise<void> {
  const env = { HELIX_FOLDER: folder, HELIX_SHUTDOWN_MS: '300' }
  const first = await startServerProcess(env)
  try {
    const seen = await playFirst(first, tell)
    const second = await startServerProcess(env)
    try {
      await playSecond(second, seen, tell)
    } finally {
      second.signal('SIGTERM')
      await second.exit
    }
  } finally {
    first.signal('SIGKILL')
  }
}

/** Starts a session, watches it, and stops the server in the middle of a tool. */
async function playFirst(server: ServerProcess, tell: Tell): Promise<readonly SequencedChunk[]> {
  const message = 'Count to 25.'
  tell(`user   ${message}`)
  const body = JSON.stringify({ sessionId: 'story', message })
  await ask(server, '/sessions', { method: 'POST', headers: json, body })
  const seen: SequencedChunk[] = []
  for await (const chunk of followSession(`${server.url}${session}/stream`)) {
    seen.push(chunk)
    tellChunk(chunk, tell)
    if (chunk.type !== 'tool_progress' || !chunk.text.includes('row 3\n')) continue
    await showHealth(server, tell)
    server.signal('SIGTERM')
  }
  const { code } = await server.exit
  tell(`server stopped in the middle of a command, exit code ${code}`)
  return seen
}

/** Another process resumes the session. Reads on where the first reader stopped. */
async function playSecond(
  server: ServerProcess,
  before: readonly SequencedChunk[],
  tell: Tell,
): Promise<void> {
  const { status } = (await ask(server, session)) as { status: string }
  tell(`server started again, the session is ${status}`)
  const seen = [...before]
  for await (const chunk of followSession(
    `${server.url}${session}/stream`,
    before.at(-1)?.sequence,
  )) {
    seen.push(chunk)
    tellChunk(chunk, tell)
    if (chunk.type === 'text_delta' && chunk.delta === 'I was stopped. I go on.') {
      await showHealth(server, tell)
    }
  }
  const gap = seen.find(({ sequence }, i) => sequence !== i + 1)
  if (gap !== undefined) throw new Error(`event ${gap.sequence} is not where it belongs`)
  tell('every event was seen once, over both connections')
}

function tellChunk(chunk: SequencedChunk, tell: Tell): void {
  if (chunk.type === 'text_delta') tell(`agent  ${chunk.delta}`)
  if (chunk.type === 'error') tell(`error  ${chunk.code}`)
}

/** What monitoring sees while a command runs. */
async function showHealth(server: ServerProcess, tell: Tell): Promise<void> {
  const { workspaces } = (await ask(server, '/healthz/story')) as {
    workspaces: readonly { name: string; state: string; receipt: { outcome: string } }[]
  }
  for (const { name, state, receipt } of workspaces) {
    tell(`  GET /healthz/story  ${name} is ${state}, ${receipt.outcome}`)
  }
  const metrics = await (await fetch(`${server.url}/metrics`)).text()
  const line = metrics.split('\n').find((text) => text.startsWith('helix_workspace_opens_total{'))
  tell(`  GET /metrics        ${line}`)
}

async function ask(server: ServerProcess, path: string, init?: RequestInit): Promise<unknown> {
  const response = await fetch(server.url + path, init)
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  return response.json()
}
