// A call without a request that comes to its turn: it starts, it is refused, or a person is asked.
import { defineAgent } from '@helix-agents/core'
import {
  contentLimits,
  permissionsOf,
  type SessionRequest,
  type SessionState,
} from '@helix-agents/core/runtime'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import type { ParentRun, RunServices } from '../../src/ports.ts'
import { loadOpenRequests } from '../../src/request/open-requests.ts'
import { placeOf } from '../../src/request/request-place.ts'
import { settle } from '../harness.ts'
import { err, free, type Given, NOW, send, started, worldOf } from './call-world.ts'

const subjectOf = async (given: Given, path?: readonly string[]) => {
  const world = worldOf(given)
  if (path !== undefined) Object.assign(world.requests, { agentPath: path })
  await world.admit()
  return world.requests.byCall.get('c')?.subject
}

describe('without a request', () => {
  test('a call that nobody must be asked about starts, unless one in front of it waits', async () => {
    const { admit, stored, chunks } = worldOf({ tool: free })
    expect(await admit()).toEqual(started)
    expect([stored, chunks]).toEqual([[], []])
    expect(await worldOf({ tool: free, gated: { isBlocked: true } }).admit()).toEqual({
      type: 'waiting',
    })
  })

  test('one that is not valid is refused, and nobody was asked', async () => {
    const { admit, stored } = worldOf({ call: { arguments: {} } })
    expect(await admit()).toMatchObject({
      type: 'rejected',
      error: { code: 'invalid-input' },
      wasAsked: false,
    })
    expect(stored).toEqual([])
  })

  test('nor is one whose arguments no person can be shown', async () => {
    const to = '"'.repeat(contentLimits.maxCharacters / 2 + 1)
    const { admit, stored } = worldOf({ call: { arguments: { to } } })
    expect(await admit()).toMatchObject({
      type: 'rejected',
      error: {
        code: 'denied',
        message: 'The arguments are too large to be shown to a person.',
        hint: 'Nothing was done. Make several calls with less in each.',
      },
      wasAsked: false,
    })
    expect(stored).toEqual([])
  })

  test('a run that is being stopped asks nothing and starts nothing', async () => {
    for (const tool of [send(), free]) {
      const { admit, control, stored } = worldOf({ tool })
      control.stop('shutdown')
      expect([await admit(), stored]).toEqual([{ type: 'waiting' }, []])
    }
    const endless = send({ inputSchema: z.object({}).refine(() => new Promise<boolean>(() => {})) })
    const { admit, control } = worldOf({ tool: endless })
    const admitting = admit()
    control.stop('aborted')
    expect(await admitting).toEqual({ type: 'waiting' })
  })

  test('a call asks: that is stored, told on the stream and to the application', async () => {
    const asked: SessionRequest[] = []
    const onRequest = (request: SessionRequest) => void asked.push(request)
    const { admit, stored, chunks, requests, write } = worldOf({ onRequest })
    expect(await admit()).toEqual({ type: 'waiting' })
    const [request] = asked
    expect(request).toMatchObject({
      requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      sessionId: 'root',
      askingSessionId: 's',
      agentPath: ['root', 'a'],
      kind: 'approval',
      toolCallId: 'c',
      toolName: 'send',
      arguments: '{"to":"ada"}',
      createdAt: NOW,
      subject: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
    expect(request).not.toHaveProperty('expiresAt')
    expect(stored).toEqual([
      ['add', { ...write, requests: [request] }],
      ['remembered?', 'root', request!.subject],
    ])
    const { requestId, kind, agentPath, preview } = request!
    const call = { toolCallId: 'c', toolName: 'send', arguments: { to: 'ada' } }
    expect(chunks).toEqual([['approval_request', { requestId, ...call, kind, preview, agentPath }]])
    expect(requests.byCall.get('c')).toBe(request)
  })

  test('the subject is the same for the same call of the same agents, and for no other', async () => {
    const one = await subjectOf({})
    expect(await subjectOf({ call: { id: 'c', arguments: { to: 'ada' } } })).toBe(one)
    expect(await subjectOf({ call: { arguments: { to: 'bob' } } })).not.toBe(one)
    expect(await subjectOf({}, ['root', 'b'])).not.toBe(one)
  })

  test.each<readonly [Given, number | undefined]>([
    [{ tool: send({ approvalTtlMs: 50 }) }, NOW + 50],
    [{ expiresInMs: 70 }, NOW + 70],
    [{ tool: send({ approvalTtlMs: 50 }), expiresInMs: 70 }, NOW + 50],
  ])('its time is that of the tool, or of the agent: %#', async (given, expiresAt) => {
    const { admit, requests, chunks } = worldOf(given)
    await admit()
    expect(requests.byCall.get('c')?.expiresAt).toBe(expiresAt)
    expect(chunks).toMatchObject([['approval_request', { expiresAt }]])
  })

  test('what the journal says that it asks it does ask', async () => {
    const { admit, stored } = worldOf({ tool: free, gated: { asks: true } })
    expect(await admit()).toEqual({ type: 'waiting' })
    expect(stored[0]).toMatchObject(['add', {}])
  })

  test('one that has a live request keeps that, and nobody is told again', async () => {
    const { admit, chunks, requests } = worldOf({ live: { requestId: 'before' } })
    expect(await admit()).toEqual({ type: 'waiting' })
    expect([chunks, requests.byCall.get('c')?.requestId]).toEqual([[], 'before'])
  })

  test('one whose like was approved for the session starts, and nobody is asked', async () => {
    const { admit, stored, chunks, write } = worldOf({ isRemembered: true })
    expect(await admit()).toEqual(started)
    const requestId = expect.any(String)
    const reason = 'approved before for the rest of the session'
    expect(stored.slice(2)).toEqual([
      ['resolve', 'root', requestId, { decision: 'approve', reason, at: NOW }],
      ['start', { ...write, requestId }],
    ])
    const resolved = { requestId, toolCallId: 'c', decision: 'approve', reason }
    expect(chunks).toEqual([['approval_resolved', resolved]])
  })

  test('an application that fails to hear of it is logged, and delays nothing', async () => {
    const { admit, logger, requests } = worldOf({ onRequest: () => Promise.reject(err) })
    expect(await admit()).toEqual({ type: 'waiting' })
    await settle()
    const { requestId } = requests.byCall.get('c')!
    const fields = { err, sessionId: 'root', requestId }
    expect(logger.lines).toEqual([{ level: 'error', message: 'onRequest failed', fields }])
  })
})

const ruled = (name: string) =>
  defineAgent({
    name,
    llmConfig: { model: {} },
    tools: [free],
    permissions: [{ decision: 'ask', tool: 'send' }],
  })

describe('the requests of a run are listed', () => {
  const agent = ruled('leaf')
  const own = permissionsOf(agent)
  const sessions: Readonly<Record<string, Partial<SessionState>>> = {
    root: { sessionId: 'root', agentType: 'top' },
    middle: { sessionId: 'middle', agentType: 'mid', parentSessionId: 'root' },
    leaf: { sessionId: 'leaf', agentType: 'leaf', parentSessionId: 'middle' },
    orphan: { sessionId: 'orphan', agentType: 'leaf', parentSessionId: 'gone' },
  }
  const stateStore = { loadSession: async (id: string) => sessions[id] ?? null }
  const services = { stateStore } as unknown as RunServices
  const of = (id: string, parent?: ParentRun) =>
    placeOf(services, agent, { session: sessions[id] as SessionState, parent })

  test('with its own session, or with the root above a sub-agent that is resumed alone', async () => {
    const place = { rules: [own], blocked: new Set() }
    expect(await of('root')).toEqual({ ...place, rootSessionId: 'root', agentPath: ['leaf'] })
    expect(await of('leaf')).toEqual({
      ...place,
      rootSessionId: 'root',
      agentPath: ['top', 'mid', 'leaf'],
    })
    expect(await of('orphan')).toMatchObject({ rootSessionId: 'orphan', agentPath: ['leaf'] })
  })

  test('where its parent says, under the rules above it where workspaces are shared', async () => {
    const above = permissionsOf(ruled('above'))
    const requests = {
      rootSessionId: 'top',
      agentPath: ['top', 'above'],
      rules: [above],
      blocked: new Set(['x']),
    }
    const parent = { requests } as unknown as ParentRun
    const place = { rootSessionId: 'top', agentPath: ['top', 'above', 'leaf'] }
    const isolated = await of('leaf', parent)
    expect(isolated).toEqual({ ...place, rules: [own], blocked: requests.blocked })
    expect(isolated.blocked).toBe(requests.blocked)
    const shared = await of('leaf', { ...parent, workspaces: {} as never })
    expect(shared.rules).toEqual([above, own])
  })

  test('an agent without rules has none', async () => {
    const plain = defineAgent({ name: 'leaf', llmConfig: { model: {} } })
    const session = sessions['root'] as SessionState
    expect((await placeOf(services, plain, { session, parent: undefined })).rules).toEqual([])
  })
})

test('all open requests of a session are found, whatever a page holds', async () => {
  const asked: unknown[] = []
  const pages = [
    { items: [{ requestId: '1' }], nextCursor: 'c' },
    { items: [], nextCursor: 'd' },
    { items: [{ requestId: '2' }] },
  ]
  const stateStore = { listRequests: async (query: unknown) => (asked.push(query), pages.shift()) }
  const services = { stateStore, clock: { now: () => 7 } } as unknown as RunServices
  expect(await loadOpenRequests(services, 's')).toEqual([{ requestId: '1' }, { requestId: '2' }])
  const query = { sessionId: 's', state: 'open', now: 7 }
  expect(asked).toEqual([query, { ...query, cursor: 'c' }, { ...query, cursor: 'd' }])
  pages.push({ items: [] })
  await loadOpenRequests(services, 's', 0)
  expect(asked[3]).toEqual({ ...query, now: 0 })
})
