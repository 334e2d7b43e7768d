// What the object of a new session takes of a branch, and what it leaves when it is removed: on a real storage.
import { type Agent, type StepResult } from '@helix-agents/core'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { describe, expect, test } from 'vitest'
import { branchFilesSource, hasAbandonedFiles } from '../../src/http/branch-files.ts'
import { respond } from '../../src/http/respond.ts'
import type { Caller } from '../../src/route/caller.ts'
import { toObjectRequest } from '../../src/route/object-request.ts'
import { createHost, NOW, plain } from '../server/host-fixture.ts'
import { bodyOf, boxed, codeOf, links, say, write } from './node-host.ts'

const HOUR_MS = 3_600_000
const read: StepResult = {
  type: 'tool_calls',
  toolCalls: [{ id: 'c', name: 'workspace__box__read_file', arguments: { path: '/a' } }],
}

interface Sent {
  readonly caller?: Caller
  readonly isSeed?: boolean
  readonly agent?: string
}

/** An object whose requests come as from the Worker. */
async function createObject(steps: readonly StepResult[] = [], agent: Agent = boxed) {
  const parts = createHost({
    steps,
    options: { agents: [agent], workspaceProviders: () => [new InMemoryWorkspaceProvider()] },
  })
  await parts.host.ready()
  const send = (method: string, path: string, body?: BodyInit | null, sent: Sent = {}) => {
    const request = new Request(`http://host${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body !== undefined && { body }),
    })
    const { caller = {}, agent: named = 'a', isSeed = false } = sent
    const target = { sessionId: 's', agent: named, base: '/agents/a/s', caller, isSeed }
    return respond(parts.host, toObjectRequest(request, new URL(request.url).pathname, target))
  }
  const stored = () => [...parts.values.keys()]
  return { ...parts, send, stored }
}

/** The seed and the archive of a session that has written a file. */
async function source() {
  const object = await createObject([write('one\n'), say('done')])
  await object.run(boxed)
  const seed = await object.send('POST', '/branch', '{"files":"checkpoint"}')
  const { checkpointId } = JSON.parse(seed.headers.get('x-helix-branch-files') ?? '') as {
    checkpointId: string
  }
  const files = await object.send('GET', `/files?checkpointId=${checkpointId}`)
  return { seed: await seed.text(), tar: await files.arrayBuffer() }
}

const seedOf = (more: object = {}) => JSON.stringify({ agentType: 'a', messages: [], ...more })

describe('a new session of a branch', () => {
  test('begins with what its source gave, for its owner', async () => {
    const labels = { userId: 'ann', tags: ['x'], metadata: { y: 1 } }
    const { send, host, clock } = await createObject()
    const body = seedOf({ ...labels, customState: { n: 1 } })
    const made = await send('POST', '/start', body, { isSeed: true, caller: { userId: 'ben' } })
    expect([made.status, made.headers.get('location')]).toEqual([201, links.self])
    expect(await made.json()).toEqual({ sessionId: 's', links })
    expect(await host.stateStore.loadSession('s')).toMatchObject({
      ...labels,
      sessionId: 's',
      agentType: 'a',
      status: 'idle',
      customState: { n: 1 },
      createdAt: clock.now(),
    })
    expect(await codeOf(send('POST', '/start', body, { isSeed: true, caller: labels }))).toEqual([
      409,
      'session-exists',
    ])
  })

  test.each([
    [{}, undefined],
    [{ userId: 'ben' }, 'ben'],
  ])('of a source without owner belongs to %o who branched it', async (caller, userId) => {
    const { send, host } = await createObject()
    await send('POST', '/start', seedOf(), { isSeed: true, caller })
    const session = await host.stateStore.loadSession('s')
    expect(session?.userId).toBe(userId)
    expect(Object.hasOwn(session ?? {}, 'tags')).toBe(false)
    expect(Object.hasOwn(session ?? {}, 'metadata')).toBe(false)
  })

  test.each([
    [seedOf({ messages: [{ role: 'other' }] })],
    [seedOf({ more: 1 })],
    [seedOf({ tags: 'x' })],
    ['{'],
  ])('is not made of %s', async (body) => {
    const { send, host, logger } = await createObject()
    expect((await send('POST', '/start', body, { isSeed: true })).status).toBe(500)
    expect(await host.stateStore.loadSession('s')).toBeNull()
    expect(logger.with('request failed')).toHaveLength(1)
  })

  test('has the files that came before it, and leaves nothing else of them', async () => {
    const { seed, tar } = await source()
    const { send, host, state, stored, run, values } = await createObject([read, say('done')])
    const bring = await send('POST', '/start?stage=x&workspace=box', tar, { isSeed: true })
    expect(bring.status).toBe(201)
    const { snapshotId } = await bodyOf<{ snapshotId: string }>(bring)
    expect(values.get('helix:branch-files:x')).toEqual({ at: NOW, snapshots: { box: snapshotId } })
    expect(state.alarm).toBe(NOW + HOUR_MS)
    const made = await send('POST', '/start?stage=x', seed, { isSeed: true })
    expect([made.status, stored()]).toEqual([201, []])
    expect(await host.stateStore.loadSession('s')).toMatchObject({ agentType: 'a', stepCount: 0 })
    await run(boxed)
    const { messages } = await host.stateStore.loadMessages('s', { limit: 100 })
    expect(JSON.stringify(messages.at(-2))).toContain('one')
  })

  test('takes files of several workspaces, and of several branches', async () => {
    const { tar } = await source()
    const { send, values, clock, state } = await createObject()
    for (const name of ['box', 'more']) {
      await send('POST', `/start?stage=x&workspace=${name}`, tar, { isSeed: true })
      await clock.advance(1)
    }
    await send('POST', '/start?stage=y&workspace=box', tar, { isSeed: true })
    const [x, y] = ['x', 'y'].map((stage) => values.get(`helix:branch-files:${stage}`))
    const snapshots = { box: expect.any(String), more: expect.any(String) }
    expect(x).toEqual({ at: NOW, snapshots })
    expect(y).toEqual({ at: NOW + 2, snapshots: { box: expect.any(String) } })
    // The alarm of the first is early enough.
    expect(state.alarm).toBe(NOW + HOUR_MS)
  })

  test('takes no files once it is there, or when none are sent', async () => {
    const { tar } = await source()
    const { send, stored } = await createObject()
    const path = '/start?stage=x&workspace=box'
    const empty = send('POST', path, undefined, { isSeed: true })
    expect(await codeOf(empty)).toEqual([400, 'invalid-request'])
    await send('POST', '/start', seedOf(), { isSeed: true })
    expect(await codeOf(send('POST', path, tar, { isSeed: true }))).toEqual([409, 'session-exists'])
    expect(stored()).toEqual([])
  })
})

async function abandoned() {
  const { tar } = await source()
  const object = await createObject()
  await object.send('POST', '/start?stage=x&workspace=box', tar, { isSeed: true })
  return object
}

describe('files whose branch was never made', () => {
  test('are abandoned after an hour: until then the alarm is set for it', async () => {
    const { host, state, clock } = await abandoned()
    for (const [alarm, expected] of [
      [null, NOW + HOUR_MS],
      [NOW + 2 * HOUR_MS, NOW + HOUR_MS],
      [NOW + 1, NOW + 1],
      [NOW + HOUR_MS, NOW + HOUR_MS],
    ] as const) {
      Object.assign(state, { alarm, sets: 0 })
      expect(await hasAbandonedFiles(host)).toBe(false)
      expect([state.alarm, state.sets]).toEqual([expected, alarm === expected ? 0 : 1])
    }
    await clock.advance(HOUR_MS - 1)
    expect(await hasAbandonedFiles(host)).toBe(false)
    await clock.advance(1)
    expect(await hasAbandonedFiles(host)).toBe(true)
    expect(await hasAbandonedFiles((await createObject()).host)).toBe(false)
  })

  test('are removed by the alarm of an object that has its session, and of no other', async () => {
    const { host, stored, ctx } = await abandoned()
    const files = branchFilesSource(host)
    expect([files.name, files.nextAt(0)]).toEqual(['files of branches', NOW + HOUR_MS])
    await files.run(0)
    expect(stored()).toEqual(['helix:branch-files:x'])
    const session = { agentType: 'a', customState: undefined, now: NOW }
    await host.stateStore.createSession({ ...session, sessionId: 's' })
    await files.run(0)
    expect([stored(), files.nextAt(0)]).toEqual([[], undefined])
    for (const table of ['blocks', 'manifests']) {
      expect(ctx.storage.sql.exec(`SELECT * FROM helix_snapshot_${table}`).toArray()).toEqual([])
    }
  })
})

async function labelled() {
  const object = await createObject([say('done')], plain)
  const owner = { userId: 'ann' }
  await object.send('POST', '/start', '{"message":"Go"}', { caller: owner })
  await (await object.host.executor.getHandle(plain, 's'))?.result()
  await object.host.watchdog.untilAtRest()
  return object
}

describe('a removal', () => {
  const owner = { caller: { userId: 'ann' } }

  test('leaves nothing, and there is no session then', async () => {
    const { send, stored, host, ctx } = await labelled()
    const removed = await send('DELETE', '/', undefined, owner)
    expect([removed.status, removed.body, stored()]).toEqual([204, null, []])
    expect(ctx.storage.sql.exec('SELECT name FROM sqlite_master').toArray()).toEqual([])
    expect(host.erasures).toBe(1)
    expect(await codeOf(send('DELETE', '/', undefined, owner))).toEqual([404, 'not-found'])
  })

  test.each<readonly [string, Sent, number]>([
    ['its owner', owner, 204],
    ['an operator', { caller: { userId: 'ben', isOperator: true } }, 204],
    ['another user', { caller: { userId: 'ben' } }, 404],
    ['nobody in particular', {}, 404],
    ['its owner who may only read', { caller: { userId: 'ann', isReadOnly: true } }, 403],
    ['its owner by another agent', { ...owner, agent: 'b' }, 404],
  ])('of one that cannot be read, by %s: %o is %i', async (_, sent, status) => {
    const { send, host, ctx } = await labelled()
    ctx.storage.sql.exec("UPDATE helix_sessions SET status = 'none'")
    await expect(host.stateStore.loadSession('s')).rejects.toMatchObject({ code: 'corrupt' })
    expect((await send('DELETE', '/', undefined, sent)).status).toBe(status)
    expect(host.erasures).toBe(status === 204 ? 1 : 0)
  })
})
