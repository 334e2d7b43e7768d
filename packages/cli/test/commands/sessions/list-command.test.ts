import { StateStoreError } from '@helix-agents/core'
import type { SessionPage } from '@helix-agents/core/runtime'
import { beforeEach, describe, expect, it } from 'vitest'
import { TestHost } from '../../test-host.ts'
import { addSession, SECRET } from './sample-sessions.ts'

let host: TestHost
beforeEach(() => {
  host = new TestHost()
})

async function idsOf(...args: string[]) {
  const { items } = await host.json(['sessions', 'list', ...args])
  return (items as { sessionId: string }[]).map(({ sessionId }) => sessionId)
}

describe('helix sessions list', () => {
  it('prints a table, the newest first', async () => {
    await addSession(host.stateStore, {
      sessionId: 's-1',
      status: 'completed',
      workspaces: ['a', 'b'],
      end: { owed: ['a'] },
    })
    await addSession(host.stateStore, { sessionId: 's-2', agentType: 'fixer' })
    const leaseUntil = host.clock.now() + 1
    const running = { sessionId: 's-3', status: 'running', workspaces: ['a'], leaseUntil } as const
    await addSession(host.stateStore, running)
    const { code, out } = await host.run(['sessions', 'list', '--db', 'some.db'])
    expect(out.split('\n')).toEqual([
      'SESSION  AGENT   STATUS     STEPS  MESSAGES  WORKSPACES  UPDATED',
      's-3      tester  running        1         0  1           16m ago',
      's-2      fixer   idle           0         0  -           16m ago',
      's-1      tester  completed      1         0  1 owed      15m ago',
      '',
    ])
    expect([code, host.opened, host.closed]).toEqual([0, ['some.db'], 1])
  })
  it('says that there are none', async () => {
    expect(await host.run(['sessions', 'list'])).toMatchObject({ code: 0, out: '' })
    expect(await host.json(['sessions', 'list'])).toEqual({ items: [], unreadable: [] })
  })
  it('takes the database from the environment', async () => {
    await host.run(['sessions', 'list'])
    host.env.HELIX_DB = 'of-env.db'
    await host.run(['sessions', 'list'])
    await host.run(['sessions', 'list', '--db', 'of-flag.db'])
    expect(host.opened).toEqual(['helix.db', 'of-env.db', 'of-flag.db'])
  })
  it('filters by agent and status, over pages, and its cursor skips none', async () => {
    for (let i = 0; i < 450; i += 1) {
      const sample = { sessionId: `s-${i}`, agentType: i % 2 === 0 ? 'even' : 'odd' }
      await addSession(host.stateStore, i % 90 === 0 ? { ...sample, status: 'failed' } : sample)
    }
    expect(await idsOf('--status', 'failed')).toEqual(['s-360', 's-270', 's-180', 's-90', 's-0'])
    expect(await idsOf('--agent', 'odd', '--status', 'failed')).toEqual([])
    expect(await idsOf('--agent', 'odd', '--limit', '2')).toEqual(['s-449', 's-447'])
    expect((await idsOf('--limit', '450')).length).toBe(450)
    const pages: string[] = []
    let cursor: string | undefined
    do {
      const args = ['sessions', 'list', '--status', 'failed', '--limit', '2']
      const page = await host.json([...args, ...(cursor === undefined ? [] : ['--cursor', cursor])])
      const { items, nextCursor } = page as { items: { sessionId: string }[]; nextCursor?: string }
      pages.push(items.map(({ sessionId }) => sessionId).join(' '))
      cursor = nextCursor
    } while (cursor !== undefined)
    expect(pages).toEqual(['s-360 s-270', 's-180 s-90', 's-0'])
  })
  it('says how to see more', async () => {
    for (const sessionId of ['s-1', 's-2']) await addSession(host.stateStore, { sessionId })
    const { err } = await host.run(['sessions', 'list', '--limit', '1'])
    const [, cursor = ''] = /--cursor (\S+)/.exec(err) ?? []
    expect(await idsOf('--cursor', cursor)).toEqual(['s-1'])
  })
  it('shows damaged sessions whatever the filter, and ends with 1', async () => {
    await addSession(host.stateStore, { sessionId: 's-1', status: 'failed' })
    const store = host.stateStore
    const list = store.listSessions.bind(store)
    store.listSessions = async (query): Promise<SessionPage> => ({
      ...(await list(query)),
      unreadable: [{ sessionId: 'torn\x1b[2J', code: 'corrupt' }],
    })
    const { code, out } = await host.run(['sessions', 'list', '--status', 'completed'])
    expect([code, out.split('\n')[1]]).toEqual([1, String.raw`torn\x1b[2J  ?      corrupt`])
    const { unreadable } = await host.json(['sessions', 'list'])
    expect(unreadable).toEqual([{ sessionId: 'torn\x1b[2J', code: 'corrupt' }])
  })
  it('keeps refs and custom state to itself', async () => {
    await addSession(host.stateStore, { sessionId: 's-1', status: 'failed', workspaces: ['a'] })
    const { out } = await host.run(['sessions', 'list', '--json'])
    expect(out).not.toContain(SECRET)
    expect(JSON.parse(out).items[0].workspaces).toEqual({
      a: { providerId: 'local-bash', schemaVersion: 1, capabilities: { fs: true, shell: true } },
    })
  })
  it.each([
    ['unavailable', 3],
    ['schema-version', 3],
    ['corrupt', 1],
    ['invalid-query', 2],
  ] as const)('ends a store error %s with %i, the store closed', async (code, exitCode) => {
    host.stateStore.listSessions = async () => Promise.reject(new StateStoreError(code, '', 'no'))
    expect(await host.run(['sessions', 'list'])).toMatchObject({ code: exitCode, out: '' })
    expect(host.closed).toBe(1)
  })
  it('refuses a cursor that is none', async () => {
    expect((await host.run(['sessions', 'list', '--cursor', 'x y'])).code).toBe(2)
  })
})
