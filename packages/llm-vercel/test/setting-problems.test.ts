// What a wrong setting reads like, from real calls to real addresses: the sentence names the
// model, its provider, the address and the variable, and never the key.
import { createServer, type Server } from 'node:http'
import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { ModelError, type StepInput } from '@helix-agents/core'
import { VercelAIAdapter } from '@helix-agents/llm-vercel'
import { createGateway } from 'ai'
import { expect, test } from 'vitest'

const KEY = 'sk-very-secret'

interface Answer {
  readonly status: number
  readonly body: unknown
}

test('a refused key', async () => {
  const body = { error: { message: `Incorrect API key provided: ${KEY}`, code: 'invalid_api_key' } }
  const { error, baseURL } = await ask('gpt-5', 'openai', { status: 401, body })
  expect(error.code).toBe('unauthorized')
  expect(error.message).toBe(
    `openai refused the key for the model "gpt-5" at ${baseURL} (status 401, invalid_api_key)`,
  )
  expect(error.hint).toContain('OPENAI_API_KEY')
})

test('a refused key of the gateway names its own variable', async () => {
  const body = { error: { message: 'Unauthenticated', type: 'authentication_error' } }
  const { error } = await ask('openai/gpt-5', 'gateway', { status: 401, body })
  expect(error.code).toBe('unauthorized')
  expect(error.hint).toContain('(AI_GATEWAY_API_KEY,')
})

test('a model that the provider does not have', async () => {
  const body = { type: 'error', error: { type: 'not_found_error', message: 'model: claude-9' } }
  const { error, baseURL } = await ask('claude-9', 'anthropic', { status: 404, body })
  expect(error.code).toBe('invalid-request')
  expect(error.message).toContain(`${baseURL} knows no such address, or has no model "claude-9"`)
})

test('a model that a local server does not have', async () => {
  const body = { error: { message: 'model "qwen9" not found, try pulling it first' } }
  const { error } = await ask('qwen9', 'compatible', { status: 404, body })
  expect(error.message).toContain('compatible has no model "qwen9"')
})

test('a local server that is not running', async () => {
  const { error, baseURL } = await ask('qwen3', 'compatible', null)
  expect(error.code).toBe('connection-lost')
  expect(error.message).toContain(`no server answers at ${baseURL} for the model "qwen3"`)
  expect(error.hint).toBe('Start the server, or correct MODEL_BASE_URL.')
})

test('a name with line breaks cannot forge a line of the log', async () => {
  const body = { error: { message: 'no', code: 'model_not_found' } }
  const { error } = await ask(`m\nfatal: forged ${'x'.repeat(500)}`, 'openai', {
    status: 404,
    body,
  })
  expect(error.message).not.toContain('\n')
  expect(error.message.length).toBeLessThan(250)
})

type ProviderName = 'openai' | 'anthropic' | 'gateway' | 'compatible'

/** Asks a server that answers so; `null`: one that was stopped before. */
async function ask(modelId: string, provider: ProviderName, answer: Answer | null) {
  const server = createServer((request, response) => {
    request.resume()
    response.writeHead(answer?.status ?? 500, { 'content-type': 'application/json' })
    response.end(JSON.stringify(answer?.body))
  })
  const baseURL = await listen(server)
  if (answer === null) await close(server)
  const model = modelOf(provider, baseURL)(modelId)
  const result = await new VercelAIAdapter({ maxRetries: 0 }).generateStep(inputOf(model))
  if (answer !== null) await close(server)
  const error = result.type === 'error' ? result.error : undefined
  if (!ModelError.isInstance(error)) throw new Error('the call did not fail')
  expect(JSON.stringify([error.message, error.hint, String(error.cause)])).not.toContain(KEY)
  return { error, baseURL }
}

function modelOf(provider: ProviderName, baseURL: string) {
  const settings = { apiKey: KEY, baseURL }
  if (provider === 'openai') return createOpenAI(settings)
  if (provider === 'anthropic') return createAnthropic(settings)
  if (provider === 'gateway') return createGateway(settings)
  return createOpenAICompatible({ name: 'compatible', ...settings })
}

function inputOf(model: unknown): StepInput {
  return {
    messages: [{ role: 'user', content: 'Hello.' }],
    tools: [],
    config: { model },
    abortSignal: new AbortController().signal,
    callbacks: {},
    agentId: 'run',
    agentType: 'test',
  }
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return `http://127.0.0.1:${address.port}`
}

async function close(server: Server): Promise<void> {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
}
