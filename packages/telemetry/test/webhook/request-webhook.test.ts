// Against a real server, with the clock in the hands of the test.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { SessionRequest } from '@helix-agents/core/runtime'
import { ManualClock } from '@helix-agents/core/testing'
import { createRequestWebhook, type RequestWebhookOptions } from '@helix-agents/telemetry/webhook'
import { Webhook } from 'standardwebhooks'
import { expect, onTestFinished, test } from 'vitest'

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const OTHER = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD'

const request: SessionRequest = {
  requestId: '0b7e7d8a',
  sessionId: 'session',
  askingSessionId: 'session/s1-0',
  agentPath: ['lead', 'releaser'],
  kind: 'approval',
  toolCallId: 'call-1',
  toolName: 'workspace__repo__run',
  arguments: '{"command":"git push","token":"TOP-SECRET"}',
  preview: { title: 'git push', body: 'to origin', basis: { digest: 'x' } },
  subject: 'digest',
  createdAt: Date.UTC(2026, 10, 23),
  expiresAt: Date.UTC(2026, 10, 24),
}

interface Received {
  readonly headers: Record<string, string>
  readonly body: string
}

type Answer = (response: ServerResponse, received: Received) => void

const status =
  (code: number): Answer =>
  (response) =>
    response.writeHead(code).end('answer')

/** A receiver that gives these answers, one after the other, and then the last one. */
async function receiver(...answers: readonly Answer[]) {
  const received: Received[] = []
  const answer = async (message: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = (await message.toArray()).join('')
    const one = { headers: message.headers as Record<string, string>, body }
    received.push(one)
    answers[Math.min(received.length, answers.length) - 1]?.(response, one)
    arrived.resolve()
  }
  let arrived = Promise.withResolvers<void>()
  const server = createServer((message, response) => void answer(message, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/hook?key=in-the-address`,
    received,
    /** Resolves with the next message. */
    next: async () => {
      arrived = Promise.withResolvers<void>()
      await arrived.promise
    },
  }
}

/** Pauses take no time, and a minute by the clock. */
class PauseClock extends ManualClock {
  readonly pauses: number[] = []

  override async sleep(ms: number): Promise<void> {
    this.pauses.push(ms)
    await this.advance(60_000)
  }
}

function notifier(url: string, over: Partial<RequestWebhookOptions> = {}) {
  // Now: receivers compare with the time of the machine.
  const clock = new PauseClock(Date.now())
  return { clock, notify: createRequestWebhook({ url, secret: SECRET, clock, ...over }) }
}

const verify = (secret: string, { body, headers }: Received): unknown =>
  new Webhook(secret).verify(body, headers)

test('a receiver verifies what it gets, and gets no arguments', async () => {
  const { url, received } = await receiver(status(204))
  const headers = { authorization: 'Bearer t', 'webhook-id': 'forged' }
  await notifier(url, { headers }).notify(request)
  expect(received).toHaveLength(1)
  expect(verify(SECRET, received[0]!)).toEqual({
    type: 'request.created',
    timestamp: '2026-11-23T00:00:00.000Z',
    data: {
      requestId: '0b7e7d8a',
      sessionId: 'session',
      agentPath: ['lead', 'releaser'],
      kind: 'approval',
      toolCallId: 'call-1',
      toolName: 'workspace__repo__run',
      preview: { title: 'git push', body: 'to origin' },
      expiresAt: request.expiresAt,
    },
  })
  expect(received[0]?.headers).toMatchObject({
    'content-type': 'application/json',
    authorization: 'Bearer t',
    'webhook-id': '0b7e7d8a',
  })
  expect(received[0]?.body).not.toMatch(/TOP-SECRET|digest/)
})

test('a receiver rejects a bad signature, and it is not tried again', async () => {
  const { url, received } = await receiver(status(401))
  const failed = notifier(url).notify(request)
  await expect(failed).rejects.toThrow('the webhook answered with 401')
  expect(received).toHaveLength(1)
  const message = received[0]!
  const forged = { ...message, body: `${message.body} ` }
  const old = { ...message, headers: { ...message.headers, 'webhook-timestamp': '1' } }
  expect(() => verify(OTHER, message)).toThrow('No matching signature')
  expect(() => verify(SECRET, forged)).toThrow('No matching signature')
  expect(() => verify(SECRET, old)).toThrow('timestamp too old')
})

test.each([500, 503, 429])('after %i it is sent again, signed anew', async (code) => {
  const server = await receiver(status(code), status(code), status(200))
  const { clock, notify } = notifier(server.url)
  await notify(request)
  const times = server.received.map(({ headers }) => Number(headers['webhook-timestamp']))
  expect([times[1]! - times[0]!, times[2]! - times[1]!]).toEqual([60, 60])
  expect(new Set(server.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
  expect(clock.pauses[1]).toBeGreaterThan(clock.pauses[0] ?? 0)
})

test('it gives up after its retries, and names neither the address nor the key', async () => {
  const server = await receiver(status(500))
  const failed = notifier(server.url, { retries: 1 }).notify(request)
  await expect(failed).rejects.toThrow(/^the webhook answered with 500$/)
  expect(server.received).toHaveLength(2)
})

test('an answer whose body does not end counts by its status', async () => {
  const body = new ReadableStream({ cancel: () => new Promise(() => {}) })
  const broken = new ReadableStream({ cancel: () => Promise.reject(new Error('reset')) })
  for (const answer of [body, broken]) {
    const fetch = async (): Promise<Response> => new Response(answer)
    const notify = createRequestWebhook({
      url: 'https://x.example',
      secret: SECRET,
      fetch,
      retries: 0,
    })
    await expect(notify(request)).resolves.toBeUndefined()
  }
})

test('a slow receiver is left after its time', async () => {
  const server = await receiver(() => undefined)
  const signals: (AbortSignal | null | undefined)[] = []
  const send: typeof fetch = (to, init) => {
    signals.push(init?.signal)
    return fetch(to, init)
  }
  const { clock, notify } = notifier(server.url, { retries: 0, timeoutMs: 3000, fetch: send })
  const outlast = async (): Promise<void> => {
    await server.next()
    await clock.advance(2999)
    await clock.advance(1)
  }
  const [failed] = await Promise.allSettled([notify(request), outlast()])
  expect(failed).toMatchObject({
    reason: { message: 'the webhook could not be reached (TimeoutError)' },
  })
  expect(signals).toMatchObject([
    { aborted: true, reason: { message: 'the webhook did not answer in time' } },
  ])
})

test('a redirect is not followed', async () => {
  const elsewhere = await receiver(status(200))
  for (const code of [301, 302, 307, 308]) {
    const { url, received } = await receiver((response) =>
      response.writeHead(code, { location: elsewhere.url }).end(),
    )
    const failed = notifier(url).notify(request)
    await expect(failed).rejects.toThrow(`the webhook answered with ${code}`)
    expect(received).toHaveLength(1)
  }
  expect(elsewhere.received).toEqual([])
})

test('no server: the error names no address', async () => {
  const { url } = await receiver(status(200))
  const gone = url.replace(/:\d+/, ':1')
  const failed = notifier(gone, { retries: 0 }).notify(request)
  const error: unknown = await failed.catch((cause: unknown) => cause)
  expect(String(error)).toBe('Error: the webhook could not be reached (TypeError)')
})

test.each([
  ['not an address', SECRET, 'address'],
  ['file:///etc/passwd', SECRET, 'address'],
  ['https://example.com', '', 'key'],
  ['https://example.com', 'whsec_%%%', 'key'],
])('rejects the address %s with the key %s', (url, secret, what) => {
  expect(() => createRequestWebhook({ url, secret })).toThrow(RangeError)
  expect(() => createRequestWebhook({ url, secret })).toThrow(what)
})
