// What a run keeps of its files with each step, what limits evict, and how lost files come back.
import { SnapshotStoreError } from '@helix-agents/core'
import { logMessages, type SnapshotRef, type WorkspaceRef } from '@helix-agents/core/provider'
import type { SessionState, WorkspaceRegistry } from '@helix-agents/core/runtime'
import { describe, expect, test } from 'vitest'
import { loadRunHistory } from '../../../src/history/run-history.ts'
import type { RunServices } from '../../../src/ports.ts'
import {
  declaredWith,
  err,
  type Given,
  kept,
  MISSING,
  NOW,
  refOf,
  snapshotOf,
  stored,
  worldOf,
} from './run-world.ts'

describe('what is loaded', () => {
  test('is nothing when no workspace has a history', async () => {
    const services = {} as RunServices
    const declared = { plain: declaredWith().plain }
    const run = { declared, isCutOff: false }
    expect(await loadRunHistory(services, {} as SessionState, run)).toBeUndefined()
  })

  test('is what is stored, unless the session is new', async () => {
    expect((await worldOf({ session: { stepCount: 0, workspaceRefs: {} } })).loads).toEqual([])
    expect((await worldOf({ session: { stepCount: 0 } })).loads).toEqual(['s'])
    expect((await worldOf({ session: { workspaceRefs: {} } })).loads).toEqual(['s'])
  })

  test.each<readonly [Given, boolean]>([
    [{}, false],
    [{ isCutOff: true }, true],
    [{ stored: { released: [{ id: 1, releasedAt: 0, branchId: 'b' }] } }, true],
    [{ isCutOff: true, session: { stepCount: 0, workspaceRefs: {} } }, false],
  ])('may have leftovers: %j, %s', async (given, expected) => {
    expect((await worldOf(given)).loaded?.hasLeftovers).toBe(expected)
  })
})

test.each<readonly [string, Given, string]>([
  ['a step was cut off', { isCutOff: true, stored: { snapshots: [kept(1)] } }, 'yes'],
  ['the store says so', { stored: { changed: ['files'], snapshots: [kept(1)] } }, 'yes'],
  ['others have changed', { stored: { changed: ['plain'], snapshots: [kept(1)] } }, 'no'],
  ['the newest step has them', { stored: { snapshots: [stored(1, MISSING), kept(2)] } }, 'no'],
  ['the newest step has none', { stored: { snapshots: [kept(1), stored(2, MISSING)] } }, 'unknown'],
  [
    'there are those of others only',
    { stored: { snapshots: [stored(1, kept(1).files, 'plain')] } },
    'unknown',
  ],
  ['nothing is stored', { session: { stepCount: 0, workspaceRefs: {} } }, 'unknown'],
  [
    'it was moved since',
    { stored: { snapshots: [kept(1)] }, session: { workspaceRefs: { files: refOf('other') } } },
    'unknown',
  ],
  [
    'it is not open any more',
    { stored: { snapshots: [kept(1)] }, session: { workspaceRefs: {} } },
    'unknown',
  ],
])('whether files have changed before the run: %s', async (_, given, expected) => {
  expect((await worldOf(given)).history.changedBefore('files')).toBe(expected)
})

/** A registry whose workspaces are due, each with what its snapshot gives. */
function registryOf(due: Readonly<Record<string, () => Promise<SnapshotRef | undefined>>>) {
  return {
    snapshotsDue: () => Object.keys(due),
    providerId: () => 'box',
    takeSnapshot: (name: string) => due[name]!(),
  } as unknown as WorkspaceRegistry
}
const gives = (ref: string) => async () => snapshotOf(ref)

describe('a step', () => {
  test('keeps the snapshots that are due, and says of one that failed that it is missing', async () => {
    const { history, logger, metrics } = await worldOf({})
    const registry = registryOf({
      files: gives('5'),
      plain: () => Promise.reject(err),
      nothing: async () => undefined,
    })
    expect(await history.take(registry, 5)).toEqual({
      workspaceSnapshots: { files: { snapshot: snapshotOf('5') }, plain: { missing: 'failed' } },
    })
    const fields = { workspace: 'plain', providerId: 'box', sessionId: 's', err }
    expect(logger.lines).toMatchObject([
      { level: 'warn', message: logMessages.historySnapshotFailed, fields },
    ])
    const operations = metrics.calls('incSnapshot').map(([labels, ...rest]) => [labels, ...rest])
    expect(operations).toContainEqual([{ workspace: 'plain', providerId: 'box' }, 'take', 'error'])
  })

  test('has nothing to store when nothing is due, or nothing was there', async () => {
    const { history } = await worldOf({})
    expect(Object.keys(await history.take(registryOf({}), 5))).toEqual([])
    const empty = registryOf({ files: async () => undefined })
    expect(Object.keys(await history.take(empty, 5))).toEqual([])
  })

  test('logs the same failure of a workspace once', async () => {
    const { history, logger } = await worldOf({})
    const failing = registryOf({ files: () => Promise.reject(err) })
    for (const step of [5, 6, 7]) await history.take(failing, step)
    expect(logger.lines).toHaveLength(1)
    await history.take(registryOf({ plain: () => Promise.reject(err) }), 8)
    expect(logger.lines).toHaveLength(2)
  })
})

const evicted = async (given: Given, stepCount = 5) => {
  const { history } = await worldOf(given)
  return (await history.take(registryOf({ files: gives('new') }), stepCount)).evictBefore
}

describe('limits', () => {
  test.each([
    [[], undefined],
    [[1], undefined],
    [[1, 2], { files: 2 }],
    [[1, 2, 4], { files: 4 }],
  ])('of two that are kept beside steps %j: before %j', async (steps, expected) => {
    expect(await evicted({ stored: { snapshots: steps.map((step) => kept(step)) } })).toEqual(
      expected,
    )
  })

  test('of one that is kept: all before the step itself', async () => {
    const given = { history: { on: 'step', keep: 1 }, stored: { snapshots: [kept(3)] } }
    expect(await evicted(given, 5)).toEqual({ files: 5 })
  })

  test('what could not be kept counts for none', async () => {
    const snapshots = [kept(1), stored(2, MISSING), stored(3, MISSING)]
    expect(await evicted({ stored: { snapshots } })).toBeUndefined()
  })

  test.each([
    [1000, undefined],
    [1001, { files: 2 }],
  ])('of age: one of %d ms: before %j', async (age, expected) => {
    const history = { on: 'step', keep: 9, maxAgeMs: 1000 }
    const snapshots = [kept(1, NOW - age), kept(2, NOW - 10)]
    expect(await evicted({ history, stored: { snapshots } })).toEqual(expected)
  })

  test('of both the one that evicts more', async () => {
    const history = { on: 'step', keep: 3, maxAgeMs: 1000 }
    const old = [kept(1, 0), kept(2, 0), kept(3, NOW)]
    expect(await evicted({ history, stored: { snapshots: old } })).toEqual({ files: 3 })
    const many = [kept(1, 0), kept(2, NOW), kept(3, NOW), kept(4, NOW)]
    expect(await evicted({ history, stored: { snapshots: many } })).toEqual({ files: 3 })
  })

  test('evict nothing with a snapshot that failed', async () => {
    const { history } = await worldOf({ stored: { snapshots: [kept(1), kept(2), kept(3)] } })
    const files = await history.take(registryOf({ files: () => Promise.reject(err) }), 5)
    expect(files).not.toHaveProperty('evictBefore')
  })

  test('free what they have evicted once the step is stored, and count on', async () => {
    const { history, removed } = await worldOf({ stored: { snapshots: [kept(1), kept(2)] } })
    const registry = registryOf({ files: gives('3') })
    const files = await history.take(registry, 3)
    expect(removed).toEqual([])
    await history.committed(files, { stepCount: 3, now: NOW })
    expect(removed).toEqual(['1'])
    const next = await history.take(registryOf({ files: gives('4') }), 4)
    expect(next.evictBefore).toEqual({ files: 3 })
    await history.committed(next, { stepCount: 4, now: NOW })
    expect(removed).toEqual(['1', '2'])
    await history.committed(
      { workspaceSnapshots: { files: { missing: 'failed' } } },
      { stepCount: 5, now: NOW },
    )
    await history.committed({}, { stepCount: 6, now: NOW })
    expect((await history.take(registryOf({ files: gives('7') }), 7)).evictBefore).toEqual({
      files: 4,
    })
  })
})

const comesBack = async () => refOf()

describe('files that are lost', () => {
  const signal = new AbortController().signal
  const lost = async (given: Given, name = 'files') => {
    const world = await worldOf({
      stored: { snapshots: [kept(1), kept(3), stored(4, MISSING)] },
      ...given,
    })
    return { ...world, back: await world.history.restoreLost(name, signal) }
  }

  test('come back from the newest snapshot, which is recorded first; the model reads from which', async () => {
    const asked: object[] = []
    const restore = async (snapshot: SnapshotRef, options: object) => {
      const { onMaking, ...rest } = options as { onMaking: (ref: WorkspaceRef) => Promise<void> }
      asked.push([snapshot, rest])
      await onMaking(refOf())
      return refOf('box', { ref: 'new' })
    }
    const { back, recorded } = await lost({ restore })
    const detail = 'Its files are those after step 3 of 4.'
    expect(back).toEqual({ ref: refOf('box', { ref: 'new' }), detail })
    const options = { workspace: 'files', session: { sessionId: 's', agentType: 'a' }, signal }
    expect(asked).toEqual([[snapshotOf('3'), expect.objectContaining(options)]])
    expect(recorded).toEqual([['s', { workspace: 'files', ref: refOf() }, NOW]])
  })

  test.each<readonly [string, Given, string]>([
    ['there is no snapshot', { stored: {} }, 'files'],
    ['there is none of this one', {}, 'plain'],
    [
      'the workspace is not declared',
      { stored: { snapshots: [stored(1, kept(1).files, 'old')] } },
      'old',
    ],
    [
      'it was moved since',
      {
        session: {
          workspaceRefs: { files: refOf('other', { moved: { provider: { kind: 'other' } } }) },
        },
      },
      'files',
    ],
  ])('do not come back when %s', async (_, given, name) => {
    expect((await lost({ restore: comesBack, ...given }, name)).back).toBeUndefined()
  })

  test('come back also when the session has no ref of them', async () => {
    const { back } = await lost({ restore: async () => refOf(), session: { workspaceRefs: {} } })
    expect(back?.ref).toEqual(refOf())
  })

  test('are given up when the snapshot is damaged, which is logged; not when it cannot be read now', async () => {
    const { back, logger } = await lost({ restore: () => Promise.reject(err) })
    expect(back).toBeUndefined()
    const fields = { workspace: 'files', providerId: 'box', sessionId: 's', err }
    expect(logger.lines).toEqual([
      { level: 'warn', message: logMessages.historyNotRestored, fields },
    ])
    const passing = new SnapshotStoreError('unavailable', 'no answer')
    await expect(lost({ restore: () => Promise.reject(passing) })).rejects.toBe(passing)
    const stop = new AbortController()
    const world = await worldOf({
      stored: { snapshots: [kept(1)] },
      restore: () => Promise.reject(err),
    })
    stop.abort()
    await expect(world.history.restoreLost('files', stop.signal)).rejects.toBe(err)
    expect(world.logger.lines).toEqual([])
  })
})
