// A model server that redirects must not hand the key and the conversation to another one.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ModelError, type StepInput } from '@helix-agents/core'
import { fetchWithinOrigin, VercelAIAdapter } from '@helix-agents/llm-vercel'
import { modelFromEnvironment } from '@helix-agents/llm-vercel/environment'
import { afterEach, describe, expect, test } from 'vitest'

type Answer = (request: IncomingMessage, response: ServerResponse) => void

const closing: (() => void)[] = []
afterEach(() => closing.splice(0).forEach((close) => close()))

/** A server of this machine: another port is another origin. */
async function serve(answer: Answer) {
  const bodies: string[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const part of request) body += String(part)
    bodies.push(`${request.method} ${request.url} ${body}`)
    answer(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, bodies }
}

const redirect =
  (status: number, location: string): Answer =>
  (_, response) =>
    void response.writeHead(status, { location }).end()
const ok: Answer = (_, response) => void response.end('fine')

const key = 'sk-secret-key'

function inputOf(model: unknown): StepInput {
  return {
    messages: [{ role: 'user', content: 'the secret conversation' }],
    tools: [],
    config: { model },
    abortSignal: new AbortController().signal,
    callbacks: {},
    agentId: 'run',
    agentType: 'tester',
  }
}

describe.each([301, 302, 303, 307, 308])('a redirect to another origin, %i', (status) => {
  test.each([
    ['openai/gpt', 'OPENAI'],
    ['anthropic/claude', 'ANTHROPIC'],
    ['compatible', 'MODEL'],
  ])('of the server of %s sends nothing there', async (name, prefix) => {
    const other = await serve(ok)
    const { url, bodies } = await serve(redirect(status, `${other.url}/steal?key=${key}`))
    const model = await modelFromEnvironment({
      MODEL: name,
      [`${prefix}_BASE_URL`]: url,
      [`${prefix}_API_KEY`]: key,
    })
    const step = await new VercelAIAdapter({ maxRetries: 0 }).generateStep(inputOf(model))
    expect(other.bodies).toEqual([])
    expect(bodies).toHaveLength(1)
    expect(step).toMatchObject({ type: 'error', error: { code: 'invalid-request' } })
    expect(JSON.stringify(step)).not.toContain(key)
    const { error } = step as unknown as { error: Error }
    expect(error.message).toContain(`redirects to ${other.url}`)
  })
})

describe('within an origin', () => {
  test.each([307, 308])('%i is followed with its body', async (status) => {
    const { url, bodies } = await serve((request, response) =>
      request.url === '/there'
        ? ok(request, response)
        : redirect(status, '/there')(request, response),
    )
    const response = await fetchWithinOrigin(url, { method: 'POST', body: 'hello' })
    expect([response.status, await response.text()]).toEqual([200, 'fine'])
    expect(bodies).toEqual(['POST / hello', 'POST /there hello'])
  })

  test('a second redirect may not leave it either', async () => {
    const other = await serve(ok)
    const { url } = await serve((request, response) =>
      redirect(307, request.url === '/there' ? other.url : '/there')(request, response),
    )
    const sent = fetchWithinOrigin(url, { method: 'POST', body: 'hello' })
    await expect(sent).rejects.toThrow(ModelError)
    expect(other.bodies).toEqual([])
  })

  test('a circle ends', async () => {
    const { url, bodies } = await serve(redirect(307, '/'))
    await expect(fetchWithinOrigin(url, { method: 'POST' })).rejects.toThrow('redirects')
    expect(bodies).toHaveLength(6)
  })

  test.each(['//', 'http://[', ''])('an address that is none is refused: %j', async (location) => {
    const { url } = await serve(redirect(302, location))
    await expect(fetchWithinOrigin(url, { method: 'POST' })).rejects.toThrow('not followed')
  })
})

test('what is no redirect is given as it is, also when it is aborted', async () => {
  const { url } = await serve((_, response) => void response.writeHead(304).end())
  expect((await fetchWithinOrigin(url)).status).toBe(304)
  const { url: silent } = await serve(() => undefined)
  const signal = AbortSignal.abort(new Error('stopped'))
  await expect(fetchWithinOrigin(silent, { signal })).rejects.toThrow('stopped')
})
