// An answer that is stored, by whom and when, and the run that goes on with it.
import {
  AgentAlreadyRunningError,
  askUserTool,
  defineAgent,
  StateStoreError,
} from '@helix-agents/core'
import type { SessionRequest } from '@helix-agents/core/runtime'
import { ManualClock } from '@helix-agents/core/testing'
import { expect, test } from 'vitest'
import { ToolSets } from '../../src/call/tool-sets.ts'
import { respond } from '../../src/executor/respond.ts'
import type { RunServices } from '../../src/ports.ts'

const agent = defineAgent({ name: 'a', llmConfig: { model: {} }, tools: [askUserTool()] })
const request = {
  requestId: 'r',
  sessionId: 's',
  agentPath: ['a'],
  kind: 'question',
  toolName: 'ask_user',
} as unknown as SessionRequest

interface Given {
  readonly found?: Partial<SessionRequest> | null
  readonly status?: string
  /** What the store has when another answer came first. */
  readonly first?: object
  readonly fails?: Error
  readonly resume?: () => Promise<never>
}

function worldOf({ found = {}, status = 'waiting', first, fails, resume }: Given = {}) {
  const stored: unknown[] = []
  let resumed = 0
  const stateStore = {
    getRequest: async () => (found === null ? undefined : { ...request, ...found }),
    loadSession: async () => ({ sessionId: 's', agentType: 'a', status }),
    resolveRequest: async (...given: unknown[]) => {
      if (fails !== undefined) throw fails
      stored.push(given)
      return {
        request: { ...request, resolution: first ?? given[2] },
        isFirst: first === undefined,
      }
    },
  }
  const services = {
    stateStore,
    clock: new ManualClock(7),
    toolSets: new ToolSets(new Map()),
  } as unknown as RunServices
  const handle = { sessionId: 's' } as never
  const answer = (response: object = { output: 'red' }) =>
    respond(services, agent, {
      sessionId: 's',
      requestId: 'r',
      response: response as never,
      resume: async () => ((resumed += 1), resume === undefined ? handle : await resume()),
    })
  return { answer, stored, handle, resumed: () => resumed }
}

test('an answer is stored with its time, and the session goes on', async () => {
  const { answer, stored, handle } = worldOf()
  const resolution = { decision: 'output', output: 'red', at: 7 }
  expect(await answer()).toEqual({ request: { ...request, resolution }, handle })
  expect(stored).toEqual([['s', 'r', resolution]])
})

test('who has answered is stored with it', async () => {
  const { answer, stored } = worldOf()
  await answer({ decision: 'deny', reason: 'no', by: 'ada' })
  expect(stored).toEqual([['s', 'r', { decision: 'deny', reason: 'no', at: 7, by: 'ada' }]])
  await answer({ decision: 'deny' })
  expect(Object.keys((stored[1] as object[])[2]!)).toEqual(['decision', 'at'])
})

test.each<readonly [string, Given, object, number]>([
  ['it is not to', {}, { output: 'x', resume: false }, 0],
  ['a run holds it', { status: 'running' }, { output: 'x' }, 0],
  ['it went on without', { status: 'completed' }, { output: 'x' }, 0],
  [
    'another process was first',
    { resume: () => Promise.reject(new AgentAlreadyRunningError('s')) },
    { output: 'x' },
    1,
  ],
])('the session does not go on here when %s', async (_, given, response, times) => {
  const { answer, resumed } = worldOf(given)
  expect(await answer(response)).not.toHaveProperty('handle')
  expect(resumed()).toBe(times)
})

test('a session that cannot go on for another reason says so', async () => {
  const { answer } = worldOf({ resume: () => Promise.reject(new Error('no')) })
  await expect(answer()).rejects.toThrow('no')
})

test('of two answers the first one counts, and the other one is told', async () => {
  const first = { decision: 'deny', by: 'bob', at: 3 }
  const { answer, resumed } = worldOf({ first })
  await expect(answer()).rejects.toMatchObject({ code: 'already-decided' })
  expect(resumed()).toBe(0)
  const expired = worldOf({ first: { decision: 'expired', at: 3 } })
  await expect(expired.answer()).rejects.toMatchObject({
    code: 'expired',
    message: expect.stringContaining('over at 1970-01-01T00:00:00.003Z'),
  })
})

test('a request that is gone is unknown, before the answer and after', async () => {
  const unknown = { code: 'unknown-request', message: 'session s: it has no request "r"' }
  await expect(worldOf({ found: null }).answer()).rejects.toMatchObject(unknown)
  const fails = new StateStoreError('not-found', 's', 'x')
  await expect(worldOf({ fails }).answer()).rejects.toMatchObject(unknown)
  const away = new StateStoreError('unavailable', 's', 'x')
  await expect(worldOf({ fails: away }).answer()).rejects.toBe(away)
  const other = new Error('no')
  await expect(worldOf({ fails: other }).answer()).rejects.toBe(other)
})
