// Readers of streams: so many for each caller, and others are not in their way.
import { mkdtempSync, rmSync } from 'node:fs'
import { get, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { createHarness, json, say } from './harness.ts'
import { startServerProcess } from './server-process.ts'

const STREAM = '/sessions/s/stream'

test('a caller has so many places, and gets back those that it leaves', async () => {
  const app = {
    maxStreams: 3,
    maxStreamsPerCaller: 2,
    callerOf: ({ req }: { req: { header: (name: string) => string | undefined } }) =>
      req.header('x-caller') ?? '',
  }
  const harness = createHarness({ app, brain: () => say('done') })
  await harness.post('/sessions', { message: 'go', sessionId: 's' })
  await harness.ended('s')
  const read = (caller: string) => harness.get(STREAM, { 'x-caller': caller })
  const [first, second] = [await read('a'), await read('a')]
  const refused = await json(read('a'))
  expect(refused).toMatchObject({ status: 429, body: { error: { code: 'too-many-streams' } } })
  const other = await read('b')
  expect([second.status, other.status, (await read('b')).status]).toEqual([200, 200, 429])
  await first.body?.cancel()
  await other.text()
  const again = [await read('a'), await read('b'), await read('b')]
  expect(again.map(({ status }) => status)).toEqual([200, 200, 429])
})

test('a viewer with 200 streams does not lock out the owner of the session', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'helix-streams-test-'))
  const server = await startServerProcess({ HELIX_FOLDER: folder })
  const opened: IncomingMessage[] = []
  const open = (localAddress: string) =>
    new Promise<number>((resolve, reject) => {
      get(server.url + STREAM, { localAddress, agent: false }, (response) => {
        opened.push(response)
        response.on('error', () => undefined)
        resolve(response.statusCode ?? 0)
      }).on('error', reject)
    })
  const post = async (path: string, body: object = {}) => {
    const headers = { 'content-type': 'application/json' }
    const init = { method: 'POST', body: JSON.stringify(body), headers }
    return (await fetch(server.url + path, init)).status
  }
  try {
    await post('/sessions', { sessionId: 's', message: 'Count to 1000.' })
    const statuses = await Promise.all(Array.from({ length: 200 }, () => open('127.0.0.2')))
    expect(statuses.filter((status) => status === 200)).toHaveLength(20)
    expect(statuses.filter((status) => status === 429)).toHaveLength(180)
    expect(await open('127.0.0.1')).toBe(200)
    expect((await fetch(`${server.url}/sessions/s`)).status).toBe(200)
    expect(await post('/sessions/s/abort')).toBe(202)
    for (const response of opened) response.destroy()
    await vi.waitFor(async () => expect(await open('127.0.0.2')).toBe(200), { timeout: 60_000 })
  } finally {
    for (const response of opened) response.destroy()
    server.signal('SIGKILL')
    await server.exit
    rmSync(folder, { recursive: true, force: true })
  }
}, 120_000)
