// The removal of a session: in which order, what keeps it, and what is left of what cannot be read.
import { defineAgent, StateStoreError, WorkspaceFailedError } from '@helix-agents/core'
import { ManualClock, RecordingLogger } from '@helix-agents/core/testing'
import { describe, expect, test } from 'vitest'
import { deleteSession } from '../../src/server/delete-session.ts'
import { createSteps } from '../node-object.ts'

const agent = defineAgent({ name: 'a', llmConfig: { model: {} } })
const other = defineAgent({ name: 'b', llmConfig: { model: {} } })
const corrupt = new StateStoreError('corrupt', 's', 'it cannot be read')
const full = new StateStoreError('unavailable', 's', 'the storage is full')
const YEARS_MS = 10 * 365 * 24 * 3_600_000

interface Session {
  readonly sessionId: string
  readonly agentType?: string
  readonly refs?: readonly string[]
}

interface Given {
  /** In pages. */
  readonly pages?: readonly (readonly Session[])[]
  readonly unreadable?: readonly string[]
  readonly running?: readonly string[]
  /** What a step throws, one after the other; none: it works. */
  readonly fails?: Readonly<Record<string, readonly (Error | undefined)[]>>
  /** Workspaces that stay open. */
  readonly stay?: readonly string[]
  readonly left?: readonly string[]
  readonly owedAt?: number
}

function hostOf(given: Given = {}) {
  const {
    pages = [[{ sessionId: 's' }]],
    unreadable = [],
    fails = {},
    stay = [],
    left = [],
  } = given
  const [events, logger, clock] = [[] as unknown[], new RecordingLogger(), new ManualClock(1000)]
  const failures = new Map(Object.entries(fails).map(([name, errors]) => [name, [...errors]]))
  const running = new Set(given.running)
  const take = createSteps((name) => void events.push(`${name} is too early`))
  const step = async (name: string, ...what: unknown[]): Promise<void> => {
    await take(name)
    const error = failures.get(name)?.shift()
    if (error !== undefined) throw error
    events.push([name, ...what].join(' '))
  }
  const sessions = new Map(
    pages.flat().map(({ sessionId, agentType = 'a', refs = [] }) => [
      sessionId,
      {
        sessionId,
        agentType,
        workspaceRefs: Object.fromEntries(refs.map((name) => [name, {}])),
      },
    ]),
  )
  const host = {
    sessionId: 's',
    clock,
    logger,
    agents: new Map([agent, other].map((one) => [one.name, one])),
    erase: async (prepare: () => Promise<void>) => {
      await prepare()
      events.push('erased')
    },
    watchdog: {
      running: () => [...running],
      isRunning: (id: string) => running.has(id),
      untilAtRest: () => step('at rest'),
    },
    releaseLeases: () => step('leases'),
    executor: {
      getHandle: async (of: { name: string }, id: string) => ({
        abort: async () => {
          await step('abort', id, of.name)
          running.delete(id)
          const session = sessions.get(id)
          if (session === undefined || stay.includes(id)) return
          sessions.set(id, { ...session, workspaceRefs: {} })
        },
      }),
      releaseEverything: async (of: { name: string } | undefined, { sessionId }: Session) => {
        await step('release', sessionId, of?.name ?? 'none')
        return left.includes(sessionId) ? ['box'] : []
      },
    },
    stateStore: {
      listSessions: async ({ cursor = '0' }: { cursor?: string }) => {
        const at = Number(cursor)
        const items = (pages[at] ?? []).map(({ sessionId }) => sessions.get(sessionId))
        const more = at + 1 < pages.length ? { nextCursor: String(at + 1) } : {}
        const damaged = unreadable.map((sessionId) => ({ sessionId }))
        return { items, ...(at === 0 && damaged.length > 0 && { unreadable: damaged }), ...more }
      },
      loadSession: async (id: string) => {
        const error = failures.get('load')?.shift()
        if (error !== undefined) throw error
        return sessions.get(id) ?? null
      },
    },
    streamManager: { deleteStream: (id: string) => step('stream', id) },
    collections: [
      {
        dropAll: () => step('drop'),
        run: (at: number) => step('collect', at),
        nextAt: async () => given.owedAt,
      },
    ],
  }
  return { events, logger, remove: () => deleteSession(host as never) }
}

const collected = ['drop', `collect ${1000 + YEARS_MS}`, 'erased']

test('runs end, leases too; what each session owns is freed, then everything is removed', async () => {
  const { events, logger, remove } = hostOf({
    pages: [[{ sessionId: 's', refs: ['box'] }], [{ sessionId: 't', agentType: 'b' }]],
    running: ['s'],
  })
  await remove()
  expect(events).toEqual([
    'abort s a',
    'at rest',
    'leases',
    'release s a',
    'release t b',
    ...collected,
  ])
  expect(logger.lines).toEqual([])
})

test('workspaces that are open are ended first', async () => {
  const { events, remove } = hostOf({ pages: [[{ sessionId: 's', refs: ['box'] }]] })
  await remove()
  expect(events).toEqual(['at rest', 'leases', 'abort s a', 'release s a', ...collected])
})

test('a run is stopped by any agent when its own is not known', async () => {
  const unknown = hostOf({ pages: [[]], running: ['gone'] })
  await unknown.remove()
  expect(unknown.events[0]).toBe('abort gone a')
  const unreadable = hostOf({ running: ['s'], fails: { load: [corrupt] } })
  await unreadable.remove()
  expect(unreadable.events[0]).toBe('abort s a')
  const own = hostOf({ pages: [[{ sessionId: 's', agentType: 'b' }]], running: ['s'] })
  await own.remove()
  expect(own.events[0]).toBe('abort s b')
  const away = hostOf({ running: ['s'], fails: { load: [new Error('away')] } })
  await expect(away.remove()).rejects.toThrow('away')
})

test('workspaces of an agent that is gone are left open, which is logged', async () => {
  const { events, logger, remove } = hostOf({
    pages: [[{ sessionId: 's', agentType: 'old', refs: ['box'] }]],
  })
  await remove()
  expect(events).toEqual(['at rest', 'leases', 'release s none', ...collected])
  const fields = { sessionId: 's', agentType: 'old' }
  expect(logger.lines).toEqual([{ level: 'warn', message: 'workspaces are left open', fields }])
})

describe('it is kept, and can be removed later,', () => {
  const later = {
    status: 503,
    code: 'not-removed',
    headers: { 'retry-after': '60' },
  }
  const two = [[{ sessionId: 's', refs: ['box'] }, { sessionId: 't' }]]

  test.each<readonly [string, Given, string]>([
    [
      'a workspace stays open',
      { pages: two, stay: ['s'] },
      'a workspace could not be ended: try again',
    ],
    [
      'something of it is left',
      { pages: two, left: ['s'] },
      'a workspace could not be ended: try again',
    ],
    [
      'a provider has more to remove',
      { pages: two, owedAt: 0 },
      'files could not be removed: try again',
    ],
  ])('when %s', async (_, given, message) => {
    const { events, remove } = hostOf(given)
    await expect(remove()).rejects.toMatchObject({ ...later, message })
    expect(events).not.toContain('erased')
    // The others are ended all the same.
    expect(events).toContain('release t a')
  })

  test('when something fails', async () => {
    const { events, remove } = hostOf({ fails: { release: [new Error('no')] } })
    await expect(remove()).rejects.toThrow('no')
    expect(events).toEqual(['at rest', 'leases'])
  })
})

describe('of what cannot be read', () => {
  const message = 'session cannot be read: its workspaces are left open'

  test('the workspaces are left open, which is logged', async () => {
    const { events, logger, remove } = hostOf({ unreadable: ['x'], fails: { release: [corrupt] } })
    await remove()
    expect(events).toEqual(['at rest', 'leases', ...collected])
    expect(logger.lines).toEqual([
      { level: 'error', message, fields: { err: corrupt, sessionId: 's' } },
      { level: 'error', message, fields: { sessionId: 'x' } },
    ])
  })
})

describe('where the storage is full', () => {
  test.each([
    ['the store', full],
    ['a provider', new WorkspaceFailedError('provider-failed', 'x')],
  ])('streams are dropped to make room: %s says so', async (_, error) => {
    const isFull = error === full
    Object.defineProperty(error, 'code', { value: isFull ? 'unavailable' : 'storage-full' })
    const { events, logger, remove } = hostOf({
      pages: [[{ sessionId: 's' }], [{ sessionId: 't' }]],
      unreadable: ['x'],
      fails: { leases: [error] },
    })
    await remove()
    expect(events).toEqual([
      'at rest',
      'stream s',
      'stream x',
      'stream t',
      'at rest',
      'leases',
      'release s a',
      'release t a',
      ...collected,
    ])
    expect(logger.lines[0]).toEqual({
      level: 'warn',
      message: 'stream is dropped to make room',
      fields: { err: error, sessionId: 's' },
    })
  })

  test('and stays so, it is kept', async () => {
    const { events, remove } = hostOf({ fails: { leases: [full, full] } })
    await expect(remove()).rejects.toBe(full)
    expect(events).toEqual(['at rest', 'stream s', 'at rest'])
  })
})
