import type { SnapshotRef } from '@helix-agents/core/provider'
import type { CheckpointSnapshot, SessionStateStore } from '@helix-agents/core/runtime'
import { check, equal, rejectsWithCode } from '../../assert.ts'
import type { Behaviour } from '../../behaviour.ts'
import {
  createAndBegin,
  headOf,
  LEASE_MS,
  refTo,
  type ScriptedRun,
  START,
} from '../session-script.ts'
import type { StoreSubject } from '../store-subject.ts'

export const historyBehaviours: readonly Behaviour<StoreSubject>[] = [
  {
    id: 'store/history/a-checkpoint-has-the-files-of-its-last-change',
    run: async ({ store }) => {
      const { ids } = await fourSteps(store)
      equal(await filesOf(store, ids), [
        { box: taken('1') },
        { box: taken('1') },
        { box: taken('3'), lab: { missing: 'failed' } },
        { box: taken('3'), lab: { missing: 'failed' } },
      ])
      const page = await store.listCheckpoints('session')
      equal(page.items.at(0)?.workspaceSnapshots, { box: taken('3'), lab: { missing: 'failed' } })
    },
  },
  {
    id: 'store/history/without-files-a-checkpoint-has-none',
    run: async ({ store }) => {
      const run = await createAndBegin(store)
      const id = await run.step('one')
      equal((await store.getCheckpoint('session', id))?.workspaceSnapshots, undefined)
      const { snapshots, changed, refs, released } = await store.loadHistory('session')
      equal([snapshots, changed, refs, released], [[], [], [], []])
    },
  },
  {
    id: 'store/history/eviction-is-said-and-takes-nothing-else',
    run: async ({ store }) => {
      const { run, ids } = await fourSteps(store)
      const evictBefore = { box: 3, lab: 9, none: 9 }
      await run.step('five', { workspaceSnapshots: { box: taken('5') }, evictBefore })
      equal(await filesOf(store, ids), [
        { box: { missing: 'evicted' } },
        { box: { missing: 'evicted' } },
        { box: taken('3'), lab: { missing: 'failed' } },
        { box: taken('3'), lab: { missing: 'failed' } },
      ])
    },
  },
  {
    id: 'store/history/going-back-forgets-later-files-and-knows-that-they-changed',
    run: async ({ store }) => {
      const { run, ids } = await fourSteps(store)
      await run.end()
      await store.restoreCheckpoint('session', ids[1], START + 50)
      const history = await store.loadHistory('session')
      equal(
        history.snapshots.map(({ workspace, stepCount, files }) => [workspace, stepCount, files]),
        [['box', 1, taken('1')]],
      )
      equal(history.changed.toSorted(), ['box', 'lab'])
    },
  },
  {
    id: 'store/history/files-are-switched-with-the-conversation',
    run: async ({ store }) => {
      const { run, ids } = await fourSteps(store)
      const options = { runId: run.runId, files: { box: refTo('new'), lab: null } }
      const head = await store.restoreCheckpoint('session', ids[1], START + 50, options)
      equal([head.stepCount, head.workspaceRefs], [2, { box: refTo('new') }])
      equal((await headOf(store)).workspaceRefs, { box: refTo('new') })
      const { changed, released } = await store.loadHistory('session')
      equal(changed, [])
      equal(
        released.map((one) => ('workspace' in one ? [one.workspace, one.ref, one.releasedAt] : [])),
        [
          ['box', refTo('box'), START + 50],
          ['lab', refTo('lab'), START + 50],
        ],
      )
    },
  },
  {
    id: 'store/history/only-the-holder-goes-back-while-the-session-is-held',
    run: async ({ store }) => {
      const { ids } = await fourSteps(store)
      await rejectsWithCode('conflict', () =>
        store.restoreCheckpoint('session', ids[0], START + LEASE_MS - 1, { runId: 'another' }),
      )
      equal((await headOf(store)).stepCount, 4)
    },
  },
  {
    id: 'store/history/a-step-clears-what-it-keeps',
    run: async ({ store }) => {
      const { run, ids } = await fourSteps(store)
      await run.end()
      await store.restoreCheckpoint('session', ids[1], START + 50)
      const again = { sessionId: 'session', runId: 'run-2', leaseMs: LEASE_MS, now: START + 60 }
      await store.beginRun(again)
      const step = { ...again, messages: [], checkpointId: 'next' }
      await store.commitStep({ ...step, workspaceSnapshots: { box: taken('new') } })
      const { changed, snapshots } = await store.loadHistory('session')
      equal(changed, ['lab'])
      equal(
        snapshots.map(({ stepCount, createdAt }) => [stepCount, createdAt > START + 50]),
        [
          [1, false],
          [3, true],
        ],
      )
      equal(snapshots.at(-1)?.createdAt, START + 60)
    },
  },
  {
    id: 'store/history/a-ref-that-is-let-go-is-recorded-when-that-is-asked',
    run: async ({ store }) => {
      const { run } = await fourSteps(store)
      const write = { workspace: 'box', releasesOld: true }
      await store.saveWorkspaceRef({ ...run.write(), workspace: 'box', ref: refTo('a') })
      await store.saveWorkspaceRef({ ...run.write(), ...write, ref: refTo('b') })
      await store.saveWorkspaceRef({ ...run.write(), ...write, ref: refTo('b') })
      const { released } = await store.loadHistory('session')
      equal(
        released.map((one) => 'ref' in one && one.ref),
        [refTo('a')],
      )
    },
  },
  {
    id: 'store/history/knows-the-refs-of-every-checkpoint',
    run: async ({ store }) => {
      const { run, ids } = await fourSteps(store)
      await store.saveWorkspaceRef({ ...run.write(), workspace: 'box', ref: refTo('later') })
      equal(await refsOf(store), ['box', 'lab', 'later'])
      await run.step('five')
      await store.saveWorkspaceRef({ ...run.write(), workspace: 'box', ref: refTo('latest') })
      equal(await refsOf(store), ['box', 'lab', 'later', 'latest'])
      await run.end()
      await store.restoreCheckpoint('session', ids[3], START + 50)
      equal(await refsOf(store), ['box', 'lab'])
    },
  },
  {
    id: 'store/history/what-is-made-for-a-branch-is-recorded-with-it',
    run: async ({ store }) => {
      await createAndBegin(store)
      const made = { workspace: 'box', ref: refTo('made') }
      const id = await store.recordReleased('session', { branchId: 'branch', made }, START)
      const other = await store.recordReleased('session', { branchId: 'other' }, START)
      const { released, refs } = await store.loadHistory('session')
      const found = released.map((one) =>
        'branchId' in one ? [one.id, one.branchId, one.made] : [one.id],
      )
      equal(found, [
        [id, 'branch', made],
        [other, 'other', undefined],
      ])
      equal(refs, [])
    },
  },
  {
    id: 'store/history/what-is-released-can-be-forgotten',
    run: async ({ store }) => {
      await createAndBegin(store)
      const ref = { workspace: 'box', ref: refTo('old') }
      const first = await store.recordReleased('session', ref, START)
      const second = await store.recordReleased('session', { branchId: 'branch' }, START + 1)
      check(first !== second, 'ids of their own')
      await store.forgetReleased('session', [first, first + 1000])
      const { released } = await store.loadHistory('session')
      equal(
        released.map((one) => [one.id, one.releasedAt, 'branchId' in one && one.branchId]),
        [[second, START + 1, 'branch']],
      )
      await rejectsWithCode('not-found', () => store.loadHistory('other'))
    },
  },
]

/** What the refs of the history name, each once. */
async function refsOf(store: SessionStateStore): Promise<readonly unknown[]> {
  const { refs } = await store.loadHistory('session')
  return [...new Set(refs.map(({ ref }) => Object.values(Object(ref)).join()))].toSorted()
}

function taken(id: string): CheckpointSnapshot {
  const snapshot: SnapshotRef = { providerId: 'p', ref: { id } }
  return { snapshot }
}

interface FourSteps {
  readonly run: ScriptedRun
  readonly ids: readonly [string, string, string, string]
}

/** Files of `box` change with the first and the third step; those of `lab` cannot be kept. */
async function fourSteps(store: SessionStateStore): Promise<FourSteps> {
  const run = await createAndBegin(store)
  for (const workspace of ['box', 'lab']) {
    await store.saveWorkspaceRef({ ...run.write(), workspace, ref: refTo(workspace) })
  }
  const first = { workspaceSnapshots: { box: taken('1') } }
  const third = { workspaceSnapshots: { box: taken('3'), lab: { missing: 'failed' } } } as const
  const ids = [
    await run.step('one', first),
    await run.step('two'),
    await run.step('three', third),
    await run.step('four'),
  ] as const
  return { run, ids }
}

function filesOf(store: SessionStateStore, ids: FourSteps['ids']): Promise<readonly unknown[]> {
  return Promise.all(
    ids.map(async (id) => (await store.getCheckpoint('session', id))?.workspaceSnapshots),
  )
}
