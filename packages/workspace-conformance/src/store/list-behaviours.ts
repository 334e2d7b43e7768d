import type { SessionQuery, SessionState, SessionStateStore } from '@helix-agents/core/runtime'
import { equal, rejectsWithCode } from '../assert.ts'
import type { Behaviour } from '../behaviour.ts'
import { beginRun, newSession, START } from './session-script.ts'
import type { StoreSubject } from './store-subject.ts'

export const listBehaviours: readonly Behaviour<StoreSubject>[] = [
  {
    id: 'store/list/may-be-empty',
    run: async ({ store }) => {
      const page = await store.listSessions()
      equal([page.items.length, page.nextCursor], [0, undefined])
    },
  },
  {
    id: 'store/list/is-newest-first',
    run: async ({ store }) => {
      await createMany(store, 3)
      equal(await idsOf(store, {}), ['s2', 's1', 's0'])
    },
  },
  {
    id: 'store/list/has-heads',
    run: async ({ store }) => {
      const created = await store.createSession(newSession({ customState: { n: 1 }, userId: 'u' }))
      const [head] = (await store.listSessions()).items
      equal([head?.sessionId, head?.version, head?.status], ['session', created.version, 'idle'])
      equal([head?.customState, head?.userId, head?.createdAt], [{ n: 1 }, 'u', START])
    },
  },
  {
    id: 'store/list/has-limits',
    run: async ({ store }) => {
      await createMany(store, 210)
      equal((await store.listSessions()).items.length, 50)
      equal((await store.listSessions({ limit: 200 })).items.length, 200)
      equal((await store.listSessions({ limit: 1000 })).items.length, 200)
    },
  },
  {
    id: 'store/list/pages-to-the-end',
    run: async ({ store }) => {
      await createMany(store, 210)
      const pages = await pagesOf(store, { limit: 70 })
      equal(
        pages.map((ids) => ids.length),
        [70, 70, 70],
      )
      const expected = Array.from({ length: 210 }, (_, index) => `s${209 - index}`)
      equal(pages.flat(), expected)
    },
  },
  {
    id: 'store/list/filters-by-agent',
    run: async ({ store }) => {
      await createMany(store, 9)
      equal(await pagesOf(store, { limit: 2, agentType: 'agent-1' }), [['s7', 's4'], ['s1']])
      equal(await idsOf(store, { agentType: 'nobody' }), [])
    },
  },
  {
    id: 'store/list/filters-by-status',
    run: async ({ store }) => {
      await createMany(store, 9)
      for (const sessionId of ['s1', 's4', 's8']) await beginRun(store, { sessionId })
      equal(await pagesOf(store, { limit: 2, status: 'running' }), [['s8', 's4'], ['s1']])
      equal(await idsOf(store, { status: 'running', agentType: 'agent-1' }), ['s4', 's1'])
      equal(await idsOf(store, { status: 'failed' }), [])
    },
  },
  {
    id: 'store/list/filters-by-prefix-of-id',
    run: async ({ store }) => {
      const ids = [
        'a',
        'a/s1-0',
        'a/s1-0/s1-0',
        'A/s1-0',
        'a%',
        'a_b',
        'ab',
        'a*',
        'a\0b',
        '"a',
        'ä',
      ]
      const far = ['\u{10ffff}x', '\u{10ffff}\u{10ffff}', '\ud7ff', '\ud7ff😀', '\ud800']
      for (const sessionId of [...ids, ...far]) await store.createSession(newSession({ sessionId }))
      const all = [...ids, ...far].toReversed()
      const prefixes = ['', 'a', 'a/', 'a/s1-0/', 'a%', 'a_', 'a*', 'a\0', '"', '"a', 'nobody', 'A']
      for (const idPrefix of [...prefixes, ...far, '\u{10ffff}']) {
        const found = all.filter((id) => id.startsWith(idPrefix))
        equal(await idsOf(store, { idPrefix }), found)
      }
      equal(await pagesOf(store, { idPrefix: 'a/', limit: 1 }), [['a/s1-0/s1-0'], ['a/s1-0']])
      equal(await idsOf(store, { idPrefix: 'a/', status: 'running' }), [])
    },
  },
  {
    id: 'store/list/filters-many-alike',
    run: async ({ store }) => {
      await createAlike(store)
      const all = await headsOf(store, {})
      equal([...all.keys()].toSorted(), alikeIds.toSorted())
      for (const query of manyQueries) {
        const expected = [...all].filter(([, head]) => isMatch(head, query)).map(([id]) => id)
        equal(
          { ...query, ids: [...(await headsOf(store, query)).keys()] },
          { ...query, ids: expected },
        )
      }
    },
  },
  {
    id: 'store/list/pages-stay-in-place',
    run: async ({ store }) => {
      await createMany(store, 6)
      const first = await store.listSessions({ limit: 2 })
      await store.createSession(newSession({ sessionId: 'new', now: START + 100 }))
      await store.deleteSession('s5')
      await store.deleteSession('s4')
      await store.deleteSession('s2')
      const cursor = first.nextCursor ?? ''
      equal(await pagesOf(store, { limit: 2, cursor }), [['s3', 's1'], ['s0']])
    },
  },
  {
    id: 'store/list/bad-query-is-rejected',
    run: async ({ store }) => {
      await createMany(store, 1)
      const limits = [0, -1, 1.5, Number.NaN].map((limit) => ({ limit }))
      for (const query of [{ cursor: 'not a cursor!' }, { cursor: '' }, ...limits]) {
        await rejectsWithCode('invalid-query', () => store.listSessions(query))
      }
    },
  },
]

/** Sessions `s0`, `s1`, …, of three agents in turn, each a millisecond newer. */
async function createMany(store: SessionStateStore, count: number): Promise<void> {
  for (let index = 0; index < count; index++) {
    const names = { sessionId: `s${index}`, agentType: `agent-${index % 3}` }
    await store.createSession(newSession({ ...names, now: START + index }))
  }
}

async function idsOf(store: SessionStateStore, query: SessionQuery): Promise<readonly string[]> {
  return (await store.listSessions(query)).items.map((head) => head.sessionId)
}

/** Of some ids there are more that begin alike than a store would sort for a page. */
const alikeIds = Array.from({ length: 1150 }, (_, n) => `${n < 100 ? 'old' : 'new'} ${n}`)

/** So many at once; the store says in which order they came. */
const AT_ONCE = 50

async function createAlike(store: SessionStateStore): Promise<void> {
  for (let from = 0; from < alikeIds.length; from += AT_ONCE) {
    const some = alikeIds.slice(from, from + AT_ONCE)
    await Promise.all(some.map((sessionId, n) => createOne(store, sessionId, from + n)))
  }
}

/** Of two agents, and every tenth has failed. */
async function createOne(store: SessionStateStore, sessionId: string, n: number): Promise<void> {
  await store.createSession(newSession({ sessionId, agentType: `agent-${n % 2}`, now: START + n }))
  if (n % 10 !== 1) return
  const run = await beginRun(store, { sessionId })
  await store.endRun({ ...run.write(), status: 'failed' })
}

const baseQueries: readonly SessionQuery[] = [
  {},
  { agentType: 'agent-1' },
  { status: 'failed' },
  { agentType: 'agent-1', status: 'failed' },
]
const manyQueries: readonly SessionQuery[] = baseQueries.flatMap((one) => [
  one,
  ...['old', 'new', 'new 1', 'x'].map((idPrefix) => ({ ...one, idPrefix })),
])

function isMatch({ agentType, status, sessionId }: SessionState, query: SessionQuery): boolean {
  if (query.agentType !== undefined && query.agentType !== agentType) return false
  if (query.status !== undefined && query.status !== status) return false
  return sessionId.startsWith(query.idPrefix ?? '')
}

/** Of all pages, in their order. */
async function headsOf(
  store: SessionStateStore,
  query: SessionQuery,
): Promise<ReadonlyMap<string, SessionState>> {
  const heads = new Map<string, SessionState>()
  let cursor: string | undefined
  do {
    const page = await store.listSessions({
      ...query,
      limit: 100,
      ...(cursor !== undefined && { cursor }),
    })
    for (const head of page.items) heads.set(head.sessionId, head)
    cursor = page.nextCursor
  } while (cursor !== undefined)
  return heads
}

/** The ids of each page, until there is no further one. */
async function pagesOf(
  store: SessionStateStore,
  query: SessionQuery,
): Promise<readonly string[][]> {
  const pages: string[][] = []
  let cursor = query.cursor
  do {
    const page = await store.listSessions({ ...query, ...(cursor !== undefined && { cursor }) })
    pages.push(page.items.map((head) => head.sessionId))
    cursor = page.nextCursor
  } while (cursor !== undefined && pages.length < 100)
  return pages
}
