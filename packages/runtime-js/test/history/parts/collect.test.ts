// What a collection frees, what it leaves, what it counts, and which records it forgets.
import { logMessages, type SnapshotRef, type WorkspaceRef } from '@helix-agents/core/provider'
import type { Released, SessionHistory } from '@helix-agents/core/runtime'
import { createRecordingMetrics, ManualClock, RecordingLogger } from '@helix-agents/core/testing'
import { describe, expect, test } from 'vitest'
import { collect, GRACE_MS, releaseEverything } from '../../../src/history/collect.ts'
import type { RunServices } from '../../../src/ports.ts'

const NOW = 10_000_000
const err = new Error('busy')
const session = { sessionId: 's', agentType: 'a' }
const refOf = (id: string, providerId = 'box'): WorkspaceRef => ({
  providerId,
  schemaVersion: 1,
  capabilities: { fs: true },
  ref: id,
})
const snapshotOf = (ref: string): SnapshotRef => ({ providerId: 'box', ref })
const stored = (snapshot?: SnapshotRef) => ({
  workspace: 'files',
  stepCount: 1,
  createdAt: 0,
  files: snapshot === undefined ? { missing: 'evicted' as const } : { snapshot },
})

interface Given {
  readonly history?: Partial<SessionHistory>
  readonly branches?: Readonly<Record<string, Partial<SessionHistory>>>
  /** What the provider has for each session. */
  readonly held?: Readonly<Record<string, readonly [workspaces: string[], snapshots: string[]]>>
  /** Ids of what cannot be freed. */
  readonly busy?: readonly string[]
  /** Sessions that cannot be listed. */
  readonly silent?: readonly string[]
  readonly neededBy?: (ref: WorkspaceRef, sessionId: string) => Promise<SnapshotRef | undefined>
}

function worldOf({
  history = {},
  branches = {},
  held = {},
  busy = [],
  silent = [],
  neededBy,
}: Given) {
  const [logger, metrics] = [new RecordingLogger(), createRecordingMetrics()]
  const freed: string[] = []
  const forgotten: unknown[] = []
  const free = async (id: string, whose = '') => {
    if (busy.includes(id)) throw err
    freed.push(`${id}${whose}`)
  }
  const provider = {
    providerId: 'box',
    release: (
      { ref }: WorkspaceRef,
      options: { workspace: string; session: { sessionId: string } },
    ) => free(String(ref), ` of ${options.session.sessionId} ${options.workspace}`.trimEnd()),
    history: {
      remove: ({ ref }: SnapshotRef) => free(String(ref)),
      list: async (sessionId: string) => {
        if (silent.includes(sessionId)) throw err
        const [workspaces, snapshots] = held[sessionId] ?? [[], []]
        return {
          workspaces: workspaces.map((id) => refOf(id)),
          snapshots: snapshots.map(snapshotOf),
        }
      },
      ...(neededBy && { neededBy }),
    },
  }
  const none = { snapshots: [], changed: [], refs: [], released: [] }
  const stateStore = {
    loadHistory: async (id: string) => ({ ...none, ...(id === 's' ? history : branches[id]) }),
    loadSession: async (id: string) => (Object.hasOwn(branches, id) ? { sessionId: id } : null),
    forgetReleased: async (...given: unknown[]) => void forgotten.push(given),
  }
  const services = {
    stateStore,
    providers: new Map<string, object>([
      ['plain', { providerId: 'plain' }],
      ['box', provider],
    ]),
    clock: new ManualClock(NOW),
    logger,
    metrics,
    tracer: undefined,
  } as unknown as RunServices
  return { services, freed, forgotten, logger, metrics }
}

async function collected(given: Given, graceMs?: number) {
  const world = worldOf(given)
  const options = { session, ...(graceMs !== undefined && { graceMs }) }
  const report = await collect(world.services, undefined, options)
  return { ...world, report }
}

const long = NOW - GRACE_MS
const releasedRef = (id: number, ref: WorkspaceRef): Released => ({
  id,
  releasedAt: 0,
  workspace: 'files',
  ref,
})
const intent = (id: number, branchId: string, made?: string, releasedAt = long): Released => ({
  id,
  releasedAt,
  branchId,
  ...(made !== undefined && { made: { workspace: 'files', ref: refOf(made) } }),
})

describe('of what a provider holds', () => {
  test('all is freed that neither the session nor a checkpoint needs', async () => {
    const { freed, forgotten, report, metrics } = await collected({
      history: {
        refs: [refOf('used')],
        snapshots: [stored(snapshotOf('kept')), stored()],
      },
      held: {
        s: [
          ['used', 'left'],
          ['kept', 'old'],
        ],
      },
    })
    expect(freed).toEqual(['old', 'left of s'])
    expect(report).toEqual({ workspaces: 1, snapshots: 1, owed: 0 })
    expect(forgotten).toEqual([])
    const labels = { workspace: 'all', providerId: 'all' }
    expect(metrics.calls('incSnapshot')).toEqual([[labels, 'collect', 'success']])
  })

  test('what cannot be freed is owed', async () => {
    const { freed, report } = await collected({
      held: {
        s: [
          ['left', 'stuck'],
          ['old', 'held'],
        ],
      },
      busy: ['stuck', 'held'],
    })
    expect(freed).toEqual(['old', 'left of s'])
    expect(report).toEqual({ workspaces: 1, snapshots: 1, owed: 2 })
  })

  test('a snapshot stays from which a backend comes back', async () => {
    const asked: unknown[] = []
    const neededBy = async (ref: WorkspaceRef, sessionId: string) => {
      asked.push([ref.ref, sessionId])
      return ref.ref === 'used' ? snapshotOf('base') : undefined
    }
    const { freed } = await collected({
      history: { refs: [refOf('used'), refOf('other'), refOf('x', 'plain')] },
      held: { s: [[], ['base', 'old']] },
      neededBy,
    })
    expect(freed).toEqual(['old'])
    expect(asked).toEqual([
      ['used', 's'],
      ['other', 's'],
    ])
  })

  test('what cannot be listed is logged, and nothing else is wrong with it', async () => {
    const { report, logger } = await collected({ silent: ['s'] })
    expect(report).toEqual({ workspaces: 0, snapshots: 0, owed: 0 })
    const fields = { err, providerId: 'box' }
    expect(logger.lines).toEqual([{ level: 'warn', message: logMessages.historyNotListed, fields }])
  })
})

test('a backend that was let go is freed and forgotten once nothing needs it', async () => {
  const { freed, forgotten, report } = await collected({
    history: {
      refs: [refOf('used')],
      released: [
        releasedRef(1, refOf('used')),
        releasedRef(2, refOf('left')),
        releasedRef(3, refOf('stuck')),
        releasedRef(4, refOf('away', 'gone')),
      ],
    },
    busy: ['stuck'],
  })
  expect(freed).toEqual(['left of s files'])
  expect(forgotten).toEqual([['s', [2]]])
  expect(report).toEqual({ workspaces: 1, snapshots: 0, owed: 2 })
})

describe('of a branch that did not come to be', () => {
  const held = { b: [['half'], ['part']], s: [[], []] } as Given['held']

  test('all is freed once it can no longer be under way', async () => {
    const begun = await collected({
      history: { released: [intent(1, 'b', 'made', long + 1)] },
      ...(held && { held }),
    })
    expect([begun.freed, begun.forgotten]).toEqual([[], []])
    const over = await collected({
      history: { refs: [refOf('half')], released: [intent(1, 'b', 'made')] },
      ...(held && { held }),
    })
    expect(over.freed).toEqual(['part', 'half of b', 'made of b files'])
    expect(over.forgotten).toEqual([['s', [1]]])
  })

  test('what it made stays while a later attempt may be under way', async () => {
    const { freed, forgotten } = await collected({
      history: { released: [intent(1, 'b', 'made', 0), intent(2, 'b', 'more', NOW)] },
    })
    expect([freed, forgotten]).toEqual([[], []])
    const now = await collected({ history: { released: [intent(1, 'b', undefined, NOW)] } }, 0)
    expect(now.forgotten).toEqual([['s', [1]]])
  })

  test.each<readonly [string, Given, readonly unknown[]]>([
    ['what it named cannot be freed', { busy: ['made'] }, []],
    ['what the provider has cannot be freed', { busy: ['half'] }, []],
    ['the provider does not say', { silent: ['b'] }, []],
    ['all is gone', {}, [['s', [1]]]],
  ])('its record stays until all is gone: %s', async (_, more, expected) => {
    const history = { released: [intent(1, 'b', 'made')] }
    const { forgotten } = await collected({ ...(held && { held }), history, ...more })
    expect(forgotten).toEqual(expected)
  })
})

test('of a branch that came to be what it does not use is freed', async () => {
  const { freed, forgotten } = await collected({
    branches: { b: { refs: [refOf('own')] } },
    held: { b: [['own', 'other'], []] },
    history: {
      released: [
        intent(1, 'b', 'own'),
        intent(2, 'b', 'first'),
        intent(3, 'b'),
        intent(4, 'b', 'x'),
      ],
    },
    busy: ['x'],
  })
  // What its provider has for it is its own business.
  expect(freed).toEqual(['first of b files'])
  expect(forgotten).toEqual([['s', [1, 2, 3]]])
})

test.each<readonly [string, Given, readonly unknown[]]>([
  ['all is gone', {}, [['s', [1]]]],
  ['something is left', { busy: ['left'] }, []],
  ['the provider does not say', { silent: ['s'] }, []],
])('an attempt of the session itself is forgotten when %s', async (_, more, expected) => {
  const history = { released: [intent(1, 's', undefined, NOW)] }
  const { forgotten } = await collected({ history, held: { s: [['left'], []] }, ...more })
  expect(forgotten).toEqual(expected)
})

describe('before a session is removed', () => {
  const everything: Given = {
    history: {
      refs: [refOf('used')],
      released: [releasedRef(1, refOf('used')), intent(2, 'b', 'made', NOW)],
      snapshots: [stored(snapshotOf('kept')), stored()],
    },
    held: { s: [['left'], ['kept']], b: [['half'], []] },
  }
  const leftOf = async (more: Given = {}) => {
    const world = worldOf({ ...everything, ...more })
    return { ...world, left: await releaseEverything(world.services, undefined, session) }
  }

  test('everything is freed, also what is needed and what has just begun', async () => {
    const { left, freed } = await leftOf()
    expect(left).toEqual([])
    expect(freed).toEqual([
      'used of s files',
      'half of b',
      'made of b files',
      'kept',
      'kept',
      'left of s',
    ])
  })

  test.each<readonly [readonly string[], readonly string[]]>([
    [['used'], ['files']],
    [['made'], ['history']],
    [['kept'], ['history']],
    [['left'], ['history']],
    [
      ['used', 'left'],
      ['files', 'history'],
    ],
  ])('of what cannot be freed, %j, the names are told: %j', async (busy, names) => {
    expect((await leftOf({ busy })).left).toEqual(names)
  })

  test('and of what a provider does not tell', async () => {
    expect((await leftOf({ silent: ['s'] })).left).toEqual(['history'])
    expect((await leftOf({ silent: ['b'] })).left).toEqual(['history'])
  })
})
