// Each limit of a server, set to its smallest: the second of a kind is rejected, not the first.
import { env, exports } from 'cloudflare:workers'
import { defineAgent } from '@helix-agents/core'
import type { SequencedChunk } from '@helix-agents/core/runtime'
import { insecureAllowAnyone, routeAgentRequest } from '@helix-agents/runtime-cloudflare'
import { DOStreamManager } from '@helix-agents/store-cloudflare'
import { describe, expect, test } from 'vitest'
import { createGate, say, use } from '../scripts.ts'
import { answerOf, crash, createSession, inObject, type TestSession } from '../session.ts'

const narrow = { agent: 'narrow', namespace: env.NARROW }

async function createRunning() {
  const gate = createGate()
  const session = createSession({ brain: () => gate.pass().then(() => say('late')) }, narrow)
  await session.post('/start', { message: 'go' })
  await gate.begun
  return { session, gate }
}

const connect = (session: TestSession): Promise<Response> =>
  exports.default.fetch(session.url('/socket'), { headers: { upgrade: 'websocket' } })

describe('a limit of one', () => {
  test('`maxStreamReaders`', async () => {
    const { session, gate } = await createRunning()
    const first = await session.fetch('/stream')
    expect(await answerOf(session.fetch('/stream'))).toMatchObject({ status: 429 })
    await first.body!.cancel()
    gate.open()
    expect(await session.ended()).toBe('completed')
  })

  test('`maxWebSockets`', async () => {
    const { session, gate } = await createRunning()
    const first = await connect(session)
    expect(first.status).toBe(101)
    expect((await connect(session)).status).toBe(429)
    first.webSocket!.accept()
    first.webSocket!.close()
    gate.open()
    expect(await session.ended()).toBe('completed')
  })

  test('`maxUnreadBodies`', async () => {
    const session = createSession({ brain: () => say('hello') }, narrow)
    await session.post('/start', { message: 'go' })
    await session.ended()
    // Whichever comes second is rejected.
    const both = await Promise.all([begin(session), begin(session)])
    const answers = both.map(async ({ answer }, index) => ({ index, ...(await answer) }))
    const rejected = await Promise.race(answers)
    expect(rejected.status).toBe(429)
    expect((await post(session, '{}')).status).toBe(429)
    const open = 1 - rejected.index
    await both[open]?.end()
    expect((await answers[open])?.status).toBe(400)
  })

  test('`maxResumeAttempts`', async () => {
    const { session } = await createRunning()
    for (let attempt = 0; attempt < 2; attempt++) {
      await crash()
      await session.get('/state')
    }
    expect(await session.ended()).toBe('failed')
    expect((await session.get('/state')).body.error).toMatchObject({ code: 'recovery-failed' })
  })
})

test('`streams` limits what is kept of a stream', async () => {
  const session = createSession(
    {
      brain: (_, { callbacks }) => {
        for (let piece = 0; piece < 20; piece++) callbacks.onTextDelta?.(`${piece}`)
        return say('done')
      },
    },
    narrow,
  )
  await session.post('/start', { message: 'go' })
  await session.ended()
  const kept = await inObject(session, async ({ storage }) => {
    const chunks: SequencedChunk[] = []
    for await (const chunk of (await new DOStreamManager(storage).read(session.id)) ?? []) {
      chunks.push(chunk)
    }
    return chunks
  })
  expect(kept.map(({ type }) => type)).toContain('stream_resync')
  expect(kept.length).toBeLessThan(6)
})

/** A body that has begun. */
async function begin(session: TestSession) {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  const writer = writable.getWriter()
  const answer = post(session, readable)
  await writer.write(new TextEncoder().encode('{'))
  return { answer, end: () => writer.close() }
}

async function post(session: TestSession, body: BodyInit) {
  const request = new Request(session.url('/message'), {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json' },
  })
  const options = { binding: 'NARROW', authenticate: insecureAllowAnyone }
  return answerOf((await routeAgentRequest(request, env, options))!)
}

test('without `keepWorkspaces` the files of a turn end with it', async () => {
  const box = { provider: { kind: 'in-memory' }, capabilities: { fs: true } } as const
  const llmConfig = { model: 'scripted' }
  const modes: string[] = []
  const session = createSession(
    {
      brain: (messages) =>
        messages.length > 1
          ? say('done')
          : use('workspace__box__write_file', { path: '/a', content: 'x' }),
      agents: () => [defineAgent({ name: 'narrow', llmConfig, workspaces: { box } })],
      lifecycle: { onClose: ({ mode }) => void modes.push(mode) },
    },
    narrow,
  )
  await session.post('/start', { message: 'go' })
  expect(await session.ended()).toBe('completed')
  expect(modes).toEqual(['end'])
})
