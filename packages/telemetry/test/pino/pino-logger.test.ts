import { defineAgent, defineTool, FileSystemError, type Logger } from '@helix-agents/core'
import { createPinoLogger, type PinoLoggerOptions } from '@helix-agents/telemetry/pino'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { boxes, calls, createExecutor, runToEnd } from '../harness.ts'

const SECRET = 'hunter2-hunter2'

function record(options: PinoLoggerOptions = {}) {
  const written: string[] = []
  const destination = { write: (line: string) => void written.push(line) }
  const logger = createPinoLogger({ level: 'debug', destination, ...options })
  const lines = () => written.map((line) => JSON.parse(line) as Record<string, unknown>)
  return { logger, written, lines }
}

test('fits the port of core as it is', () => {
  const logger: Logger = record().logger
  expect(typeof logger.debug).toBe('function')
})

test('lines hold no secret, at any depth and in any error', () => {
  const { logger, written, lines } = record()
  const cause = Object.assign(new Error(`Bearer ${SECRET}`), { request: { apiKey: SECRET } })
  const error = new FileSystemError('not-found', '/a', { cause })
  logger.error(
    {
      authorization: SECRET,
      fields: { token: SECRET, config: { env: { KEY: SECRET } } },
      config: { password: SECRET, retries: 3 },
      err: error,
      error,
    },
    'it failed',
  )
  expect(written.join('')).not.toContain(SECRET)
  const told = {
    type: 'FileSystemError',
    code: 'not-found',
    brand: 'helix-agents/error',
    path: '/a',
    cause: { type: 'Error', message: 'Bearer [redacted]', request: { apiKey: '[redacted]' } },
  }
  expect(lines()).toMatchObject([
    {
      level: 50,
      msg: 'it failed',
      authorization: '[redacted]',
      fields: { token: '[redacted]', config: { env: { KEY: '[redacted]' } } },
      config: { password: '[redacted]', retries: 3 },
      err: told,
      error: told,
    },
  ])
})

test('an error alone, a text and the bindings of a child are redacted too', () => {
  const { logger, written, lines } = record()
  logger.error(new TypeError(`Bearer ${SECRET}`))
  logger.info(`sent Bearer ${SECRET}`)
  logger
    .child({ cookie: SECRET })
    .child({ sessionId: 's', token: SECRET, err: new RangeError('x') })
    .warn({ a: 1 }, 'child')
  expect(written.join('')).not.toContain(SECRET)
  expect(lines()).toMatchObject([
    { msg: 'Bearer [redacted]', err: { type: 'TypeError' } },
    { msg: 'sent Bearer [redacted]' },
    {
      sessionId: 's',
      cookie: '[redacted]',
      token: '[redacted]',
      err: { type: 'RangeError', message: 'x' },
      a: 1,
    },
  ])
})

test('options of pino and further secret names are taken', () => {
  const { logger, lines } = record({
    level: 'warn',
    secretKeys: ['pin'],
    pino: {
      base: { service: 'agents' },
      timestamp: false,
      formatters: { level: (label) => ({ severity: label }) },
      mixin: () => ({ pin: SECRET }),
    },
  })
  logger.info({}, 'too quiet')
  logger.warn({}, 'loud')
  expect(lines()).toEqual([{ severity: 'warn', service: 'agents', pin: '[redacted]', msg: 'loud' }])
})

test('an executor writes to it, and errors are under `err`', async () => {
  const { logger, written, lines } = record()
  const failing = defineTool({
    name: 'failing',
    description: 'Fails.',
    inputSchema: z.strictObject({}),
    execute: () => {
      throw Object.assign(new Error('no'), { code: 'EPIPE', password: SECRET })
    },
  })
  const agent = defineAgent({
    name: 'a',
    llmConfig: { model: 'm' },
    workspaces: boxes,
    tools: [failing],
  })
  const fails = () => {
    throw Object.assign(new Error('model is down'), { headers: { authorization: SECRET } })
  }
  const steps = [calls(['failing'], ['workspace__box__read_file', { path: '../../x' }]), fails]
  const result = await runToEnd(createExecutor(steps, { logger }), agent)
  expect(result.status).toBe('failed')
  expect(written.join('')).not.toContain(SECRET)
  const find = (msg: string) => lines().filter((line) => line.msg === msg)
  expect(find('tool failed')).toMatchObject([
    { tool: 'failing', err: { code: 'tool-failed', cause: { code: 'EPIPE' } } },
    { tool: 'workspace__box__read_file', err: { code: 'path-escape' } },
  ])
  expect(find('model call failed')).toMatchObject([
    { err: { headers: { authorization: '[redacted]' } } },
  ])
  expect(find('workspace tool: path outside the workspace rejected')).toMatchObject([
    { path: '../../x', workspace: 'box' },
  ])
  expect(lines().filter((line) => 'error' in line)).toEqual([])
})
