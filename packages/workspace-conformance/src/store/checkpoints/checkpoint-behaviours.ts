import type { SessionStateStore } from '@helix-agents/core/runtime'
import { check, equal, rejectsWithCode } from '../../assert.ts'
import type { Behaviour } from '../../behaviour.ts'
import {
  beginRun,
  contentsOf,
  createAndBegin,
  headOf,
  journaled,
  LEASE_MS,
  newSession,
  refTo,
  type ScriptedRun,
  START,
} from '../session-script.ts'
import type { StoreSubject } from '../store-subject.ts'

export const checkpointBehaviours: readonly Behaviour<StoreSubject>[] = [
  {
    id: 'store/checkpoint/holds-the-state-after-its-step',
    run: async ({ store }) => {
      const { run, ids } = await threeSteps(store)
      await run.step('later', { customState: { value: 'later' } })
      const found = await store.getCheckpoint('session', ids[1])
      check(found !== null, 'the checkpoint of the second step')
      equal([found.id, found.sessionId, found.status], [ids[1], 'session', 'running'])
      equal([found.stepCount, found.messageCount, found.customState], [2, 2, { step: 2 }])
      equal(found.workspaceRefs, { box: refTo('2') })
      equal(found.createdAt, START + 4)
    },
  },
  {
    id: 'store/checkpoint/unknown-is-null',
    run: async ({ store }) => {
      const { ids } = await threeSteps(store)
      await store.createSession(newSession({ sessionId: 'other' }))
      equal(await store.getCheckpoint('session', 'nothing'), null)
      equal(await store.getCheckpoint('other', ids[0]), null)
    },
  },
  {
    id: 'store/checkpoint/list-is-newest-first',
    run: async ({ store }) => {
      const { ids } = await threeSteps(store)
      const page = await store.listCheckpoints('session')
      equal(
        page.items.map((checkpoint) => checkpoint.id),
        ids.toReversed(),
      )
      equal(page.nextCursor, undefined)
    },
  },
  {
    id: 'store/checkpoint/list-pages-to-the-end',
    run: async ({ store }) => {
      const { run } = await threeSteps(store)
      const first = await store.listCheckpoints('session', { limit: 2 })
      await run.step('made between two pages')
      const second = await store.listCheckpoints('session', { limit: 2, ...cursorOf(first) })
      equal(
        [first, second].map((page) => page.items.map((checkpoint) => checkpoint.stepCount)),
        [[3, 2], [1]],
      )
      equal(second.nextCursor, undefined)
    },
  },
  {
    id: 'store/checkpoint/list-has-limits',
    run: async ({ store }) => {
      const run = await createAndBegin(store)
      for (let step = 0; step < 210; step++) await run.step(`${step}`)
      equal((await store.listCheckpoints('session')).items.length, 50)
      const most = await store.listCheckpoints('session', { limit: 1000 })
      equal(most.items.length, 200)
      const rest = await store.listCheckpoints('session', { limit: 1000, ...cursorOf(most) })
      equal([rest.items.length, rest.nextCursor], [10, undefined])
    },
  },
  {
    id: 'store/checkpoint/bad-query-is-rejected',
    run: async ({ store }) => {
      await threeSteps(store)
      for (const query of [{ cursor: 'not a cursor!' }, { limit: 0 }, { limit: 0.5 }]) {
        await rejectsWithCode('invalid-query', () => store.listCheckpoints('session', query))
      }
    },
  },
  {
    id: 'store/restore/goes-back-to-the-checkpoint',
    run: async ({ store }) => {
      const { run, ids } = await threeSteps(store)
      await run.end('completed', { output: 'done' })
      const head = await store.restoreCheckpoint('session', ids[1], START + 50)
      equal([head.status, head.stepCount, head.messageCount], ['interrupted', 2, 2])
      equal([head.customState, head.workspaceRefs], [{ step: 2 }, { box: refTo('2') }])
      equal([head.output, head.error, head.updatedAt], [undefined, undefined, START + 50])
      equal(await contentsOf(store), ['one', 'two'])
      equal((await headOf(store)).version, head.version)
    },
  },
  {
    id: 'store/restore/keeps-refs-of-later-workspaces',
    run: async ({ store }) => {
      const { run, ids } = await threeSteps(store)
      await store.saveWorkspaceRef({ ...run.write(), workspace: 'later', ref: refTo('later') })
      await run.end('interrupted')
      const head = await store.restoreCheckpoint('session', ids[1], START + 50)
      equal(head.workspaceRefs['later'], refTo('later'))
      equal(head.workspaceRefs['box'], refTo('2'))
    },
  },
  {
    id: 'store/restore/drops-later-checkpoints',
    run: async ({ store }) => {
      const { run, ids } = await threeSteps(store)
      await run.end()
      await store.restoreCheckpoint('session', ids[0], START + 50)
      const page = await store.listCheckpoints('session')
      equal(
        page.items.map((checkpoint) => checkpoint.id),
        [ids[0]],
      )
      equal(await store.getCheckpoint('session', ids[2]), null)
    },
  },
  {
    id: 'store/restore/forgets-the-step-under-way',
    run: async ({ store }) => {
      const { run, ids } = await threeSteps(store)
      const box = { known: { agent: { '/late': { version: '9' } } }, writers: {} }
      await run.step('four', { fileLedgers: { box } })
      await store.beginStep({ ...run.write(), messages: [], journal: [journaled('c')] })
      await run.end('aborted')
      const head = await store.restoreCheckpoint('session', ids[2], START + 50)
      equal(await store.loadJournal('session'), [])
      equal(head.fileLedgers['box']?.known['agent']?.['/late'], undefined)
    },
  },
  {
    id: 'store/restore/session-goes-on-from-there',
    run: async ({ store }) => {
      const { run, ids } = await threeSteps(store)
      await run.end()
      await store.restoreCheckpoint('session', ids[0], START + 50)
      const next = await beginRun(store, { runId: 'run-2', now: START + 60 })
      await next.step('another two')
      equal(await contentsOf(store), ['one', 'another two'])
      const page = await store.listCheckpoints('session')
      equal(
        page.items.map((checkpoint) => [checkpoint.stepCount, checkpoint.messageCount]),
        [
          [2, 2],
          [1, 1],
        ],
      )
      const turns = (await store.listRuns('session')).map((one) => [one.turn, one.stepCount])
      equal(turns, [
        [1, 3],
        [2, 1],
      ])
    },
  },
  {
    id: 'store/restore/unknown-is-not-found',
    run: async ({ store }) => {
      const { run } = await threeSteps(store)
      await run.end()
      await rejectsWithCode('not-found', () =>
        store.restoreCheckpoint('session', 'nothing', START + 50),
      )
      equal((await headOf(store)).stepCount, 3)
    },
  },
  {
    id: 'store/restore/running-is-a-conflict',
    run: async ({ store }) => {
      const { run, ids } = await threeSteps(store)
      await rejectsWithCode('conflict', () =>
        store.restoreCheckpoint('session', ids[0], START + LEASE_MS - 1),
      )
      await run.step('four')
    },
  },
  {
    id: 'store/restore/fences-an-abandoned-run',
    run: async ({ store }) => {
      const { run, ids } = await threeSteps(store)
      await store.restoreCheckpoint('session', ids[0], START + LEASE_MS)
      await rejectsWithCode('conflict', () => run.append('late'))
      equal(await contentsOf(store), ['one'])
      equal((await store.listRuns('session'))[0]?.status, 'interrupted')
    },
  },
]

interface ThreeSteps {
  readonly run: ScriptedRun
  readonly ids: readonly [string, string, string]
}

/** A run of three steps, each with its own message, state and ref. */
async function threeSteps(store: SessionStateStore): Promise<ThreeSteps> {
  const run = await createAndBegin(store)
  const step = async (number: number, content: string): Promise<string> => {
    const ref = refTo(String(number))
    await store.saveWorkspaceRef({ ...run.write(), workspace: 'box', ref })
    return run.step(content, { customState: { value: { step: number } } })
  }
  return { run, ids: [await step(1, 'one'), await step(2, 'two'), await step(3, 'three')] }
}

function cursorOf(page: { readonly nextCursor?: string }): { readonly cursor: string } {
  check(page.nextCursor !== undefined, 'a further page')
  return { cursor: page.nextCursor }
}
