// Which pages of the store are read, and where a search that is not over goes on.
import { beforeEach, describe, expect, it } from 'vitest'
import { findSessions } from '../../../src/commands/sessions/find-sessions.ts'
import { TestHost } from '../../test-host.ts'
import { addSession, REF } from './sample-sessions.ts'

let host: TestHost
let limits: (number | undefined)[]
beforeEach(() => {
  host = new TestHost()
  limits = []
  const list = host.stateStore.listSessions.bind(host.stateStore)
  host.stateStore.listSessions = async (query) => {
    limits.push(query?.limit)
    return list(query)
  }
})

async function addSessions(count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    // Every third one has a workspace.
    const refs = index % 3 === 0 ? { repo: REF } : {}
    await addSession(host.stateStore, { sessionId: `s-${index}`, status: 'completed', refs })
  }
}

const find = (filter: Partial<Parameters<typeof findSessions>[1]>) =>
  findSessions(host.stateStore, { limit: 50, scan: 1000, ...filter })

describe('without a filter of its own', () => {
  it('reads as many as are wanted, 200 at once', async () => {
    await addSessions(203)
    const found = await find({ limit: 202 })
    expect([found.items.length, limits]).toEqual([202, [200, 2]])
    expect(found).not.toHaveProperty('stoppedAfter')
    const rest = await find({ limit: 202, cursor: found.nextCursor ?? '' })
    expect([rest.items.length, rest.nextCursor]).toEqual([1, undefined])
  })

  it('does not look at how many may be examined', async () => {
    await addSessions(5)
    const found = await find({ limit: 3, scan: 2 })
    expect([found.items.length, limits]).toEqual([3, [3]])
    expect(found).not.toHaveProperty('stoppedAfter')
  })
})

describe('with a filter of its own', () => {
  it('goes on until as many have been found as are wanted', async () => {
    await addSessions(9)
    const found = await find({ limit: 2, refVersion: 1 })
    expect(found.items.map(({ session }) => session.sessionId)).toHaveLength(2)
    // Never more than are wanted: the cursor is behind the last session of a page.
    expect(limits.every((limit) => limit !== undefined && limit <= 2)).toBe(true)
    expect(found).not.toHaveProperty('stoppedAfter')
    const all: string[] = []
    let cursor: string | undefined
    do {
      const page = await find({ limit: 1, refVersion: 1, ...(cursor !== undefined && { cursor }) })
      all.push(...page.items.map(({ session }) => session.sessionId))
      cursor = page.nextCursor
    } while (cursor !== undefined)
    expect(all.toSorted()).toEqual(['s-0', 's-3', 's-6'])
  })

  it('stops when it has examined as many as it may, and says so', async () => {
    await addSessions(9)
    const found = await find({ limit: 50, scan: 4, refVersion: 1 })
    expect([limits, found.stoppedAfter, found.nextCursor !== undefined]).toEqual([[4], 4, true])
    limits.length = 0
    const next = await find({ limit: 3, scan: 5, refVersion: 7 })
    expect([limits, next.stoppedAfter]).toEqual([[3, 2], 5])
  })

  it('counts what is damaged as examined', async () => {
    await addSessions(4)
    const list = host.stateStore.listSessions.bind(host.stateStore)
    host.stateStore.listSessions = async (query) => {
      const { items, ...page } = await list(query)
      const unreadable = items
        .slice(1)
        .map(({ sessionId }) => ({ sessionId, code: 'corrupt' as const }))
      return { ...page, items: items.slice(0, 1), unreadable }
    }
    const found = await find({ scan: 3, owed: true })
    expect([found.stoppedAfter, found.unreadable.length]).toEqual([3, 2])
  })

  it.each([
    [{ refVersion: 1 }, 1],
    [{ refVersion: 2 }, 0],
    [{ owed: true }, 0],
    [{ owed: false }, 3],
    [{ workspaceError: 'any' as const }, 0],
  ])('%j finds %d', async (filter, count) => {
    await addSessions(3)
    const found = await find(filter)
    expect([found.items.length, found.nextCursor]).toEqual([count, undefined])
  })
})

it('a list has 50 sessions and examines 1000, unless it is told otherwise', async () => {
  await host.run(['sessions', 'list'])
  expect(limits).toEqual([50])
  const items = Array.from({ length: 200 }, () => ({ workspaceRefs: {} }))
  host.stateStore.listSessions = async ({ limit } = {}) => {
    limits.push(limit)
    return { items: items.slice(0, limit), nextCursor: 'more' } as never
  }
  limits.length = 0
  const { err } = await host.run(['sessions', 'list', '--ref-version', '1', '--limit', '200'])
  expect([limits, err.split('\n')[1]]).toEqual([
    Array(5).fill(200),
    'stopped after 1000 sessions (--scan)',
  ])
})
