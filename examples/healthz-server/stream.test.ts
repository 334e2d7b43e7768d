import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'
import { defineTool, type ToolContext } from '@helix-agents/core'
import type { SequencedChunk } from '@helix-agents/core/runtime'
import { InMemoryStreamManager } from '@helix-agents/store-memory'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { followSession, readChunks } from './client.ts'
import { createHarness, type Harness, say, use } from './harness.ts'

const brain = (messages: readonly { role: string }[]) =>
  messages.at(-1)?.role === 'tool' ? say('done') : use('speak')

/** A run that says what the test says, until the test ends it. */
async function speaker(options: Parameters<typeof createHarness>[0] = {}) {
  const begun = Promise.withResolvers<ToolContext>()
  const finish = Promise.withResolvers<string>()
  const tool = defineTool({
    name: 'speak',
    description: 'Speaks.',
    inputSchema: { type: 'object' },
    execute: (_, context) => {
      begun.resolve(context)
      return finish.promise
    },
  })
  const harness = createHarness({ ...options, tools: [tool], brain })
  await harness.post('/sessions', { message: 'go', sessionId: 's' })
  const context = await begun.promise
  return {
    harness,
    speak: (text: string) => context.progress('stdout', text),
    finish: () => finish.resolve('done'),
  }
}

/** Connects like a client that saw `last`; reads at most so many chunks, then leaves. */
async function connect({ get }: Harness, last?: number, most = Infinity) {
  const headers = last === undefined ? {} : { 'Last-Event-ID': String(last) }
  const response = await get('/sessions/s/stream', headers)
  const chunks: SequencedChunk[] = []
  if (response.body === null) return { response, chunks, isComplete: true }
  const reader = readChunks(response.body)
  while (chunks.length < most) {
    const { value, done } = await reader.next()
    if (done === true) return { response, chunks, isComplete: value }
    chunks.push(value)
  }
  await reader.return(false)
  return { response, chunks, isComplete: false }
}

describe('the stream of a session', () => {
  test('is live, and says that it has ended', async () => {
    const { harness, speak, finish } = await speaker()
    const { response, chunks } = await connect(harness, undefined, 1)
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(chunks).toMatchObject([{ type: 'tool_start', toolName: 'speak' }])
    const rest = connect(harness, chunks[0]?.sequence)
    speak('line 1\nline 2')
    finish()
    const { chunks: later, isComplete } = await rest
    expect(isComplete).toBe(true)
    expect(later[0]).toMatchObject({ type: 'tool_progress', text: 'line 1\nline 2' })
    expect(later.at(-1)?.type).toBe('output')
  })

  test('has no gap and no double for a client that comes and goes', async () => {
    const texts = fc.array(fc.integer({ min: 1, max: 5 }), { maxLength: 8 })
    await fc.assert(
      fc.asyncProperty(texts, async (visits) => {
        const { harness, speak, finish } = await speaker()
        const seen: SequencedChunk[] = []
        for (const most of visits) {
          for (let line = 0; line < most; line++) speak(`${line}`)
          seen.push(...(await connect(harness, seen.at(-1)?.sequence, most)).chunks)
        }
        finish()
        const { chunks, isComplete } = await connect(harness, seen.at(-1)?.sequence)
        expect(isComplete).toBe(true)
        expect([...seen, ...chunks]).toEqual((await connect(harness)).chunks)
      }),
      { numRuns: 50 },
    )
  })

  test('tells a client that fell behind where to go on, and that place is right', async () => {
    const streamManager = new InMemoryStreamManager({ maxBufferedChunks: 4 })
    const { harness, speak, finish } = await speaker({ streamManager })
    const first = (await connect(harness, undefined, 1)).chunks[0]
    for (let line = 0; line < 10; line++) speak(`${line}`)
    const resync = (await connect(harness, first?.sequence, 1)).chunks[0]
    expect(resync).toMatchObject({ type: 'stream_resync', reason: 'buffer-overrun' })
    const next = (await connect(harness, resync?.sequence, 1)).chunks[0]
    expect(next).toMatchObject({ type: 'tool_progress', text: '6' })
    finish()
    await harness.ended('s')
  })

  test('of a new turn starts with a resync for a client of the last one', async () => {
    const harness = createHarness()
    await harness.post('/sessions', { message: 'one', sessionId: 's' })
    await harness.ended('s')
    const last = (await connect(harness)).chunks.at(-1)?.sequence
    await harness.post('/sessions/s/messages', { message: 'two' })
    await harness.ended('s')
    const { chunks } = await connect(harness, last)
    expect(chunks[0]).toMatchObject({ type: 'stream_resync', reason: 'new-run' })
    const resync = chunks[0]?.sequence
    expect((await connect(harness, resync)).chunks).toEqual(chunks.slice(1))
  })

  test('keeps a client away that has seen everything', async () => {
    const { harness, finish } = await speaker()
    finish()
    await harness.ended('s')
    const { chunks } = await connect(harness)
    const all = await connect(harness, chunks.at(-1)?.sequence)
    expect(all.response.status).toBe(204)
    const most = await connect(harness, chunks.at(-2)?.sequence)
    expect([most.response.status, most.chunks]).toEqual([200, chunks.slice(-1)])
  })

  test.each(['', 'abc', '-1', '9'.repeat(400)])('ignores the Last-Event-ID %j', async (id) => {
    const harness = createHarness()
    await harness.post('/sessions', { message: 'one', sessionId: 's' })
    await harness.ended('s')
    const response = await harness.get('/sessions/s/stream', { 'Last-Event-ID': id })
    expect(response.status).toBe(200)
    expect(await response.text()).toMatch(/^retry: \d+\n\nid: \d+\n/)
  })

  test('ends without its end when the server stops', async () => {
    const { harness, finish } = await speaker()
    const { response } = await connect(harness, undefined, 1)
    expect(response.status).toBe(200)
    const reading = connect(harness)
    harness.closing.abort()
    expect(await reading).toMatchObject({ isComplete: false })
    finish()
    await harness.ended('s')
  })

  test('is no longer read for a client whose connection is gone', async () => {
    const gone = Promise.withResolvers<void>()
    const streamManager = new InMemoryStreamManager()
    const read = streamManager.read.bind(streamManager)
    streamManager.read = (id, options) => {
      options?.signal?.addEventListener('abort', () => gone.resolve())
      return read(id, options)
    }
    const { harness, finish } = await speaker({ streamManager })
    const server = createAdaptorServer({
      fetch: harness.app.fetch,
      overrideGlobalObjects: false,
    }) as Server
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const stream = followSession(`http://127.0.0.1:${port}/sessions/s/stream`)
    expect((await stream.next()).value).toMatchObject({ type: 'tool_start' })
    await stream.return(false)
    await gone.promise
    finish()
    expect(await harness.ended('s')).toBe('completed')
    await new Promise((resolve) => server.close(resolve))
  })
})
