// Mistakes in wrangler.jsonc: whoever deploys is told which line is missing, at the first request.
import { env } from 'cloudflare:workers'
import {
  createAgentServer,
  insecureAllowAnyone,
  routeAgentRequest,
} from '@helix-agents/runtime-cloudflare'
import { describe, expect, test } from 'vitest'
import { answerOf, createSession, inObject } from '../session.ts'

const ask = async (binding: string, given: object = env) => {
  const request = new Request(createSession().url('/start'), { method: 'POST' })
  const options = { binding, authenticate: insecureAllowAnyone }
  return answerOf((await routeAgentRequest(request, given, options))!)
}

describe('a binding', () => {
  test.each([
    ['that is missing', 'NOT_BOUND', env],
    ['of another kind', 'FILES', env],
    ['that is a text', 'TEXT', { TEXT: 'AGENTS' }],
    ['of an environment without any', 'AGENTS', {}],
  ])('%s', async (_, name, given) => {
    const { status, body } = await ask(name, given)
    expect([status, body.error.code]).toEqual([500, 'binding-missing'])
    expect(body.error.message).toContain(`"name": "${name}"`)
    expect(body.error.message).toContain('durable_objects.bindings')
  })

  test('of a class that is no server of agents', async () => {
    const { status, body } = await ask('PLAIN')
    expect([status, body.error.code]).toEqual([500, 'class-invalid'])
    expect(body.error.message).toContain('class_name')
  })
})

test.each([
  [{ agents: [] }, 'llmAdapter must be (env, ctx)'],
  [{ agents: [], llmAdapter: {} }, 'llmAdapter must be (env, ctx)'],
  [{ llmAdapter: () => ({}) }, 'agents must be a list'],
  [{ llmAdapter: () => ({}), agents: {} }, 'agents must be a list'],
  [
    { llmAdapter: () => ({}), agents: [], workspaceProviders: [] },
    'workspaceProviders must be (env',
  ],
  [
    { llmAdapter: () => ({}), agents: [], workspaceProviders: {} },
    'workspaceProviders must be (env',
  ],
])('options of a wrong kind are a sentence when the class is made: %o', (options, sentence) => {
  expect(() => createAgentServer(options as never)).toThrow(sentence)
})

test.each([
  ['POST', '/start'],
  ['GET', '/state'],
  ['DELETE', ''],
  ['GET', '/nowhere'],
])('a class without SQLite answers %s %s with the line that is missing', async (method, path) => {
  const session = createSession({}, { agent: 'legacy', namespace: env.LEGACY })
  const body = method === 'POST' ? { body: '{"message":"go"}' } : {}
  const answer = await answerOf(session.fetch(path, { method, ...body }))
  expect([answer.status, answer.body.error.code]).toEqual([500, 'sqlite-missing'])
  expect(answer.body.error.message).toContain('new_sqlite_classes')
  const keys = await inObject(session, async ({ storage }) => [...(await storage.list()).keys()])
  expect(keys).toEqual([])
})
