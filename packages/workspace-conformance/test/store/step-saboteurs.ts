import type { Checkpoint, SessionState, SessionStateStore } from '@helix-agents/core/runtime'
import type { Broken } from './session-saboteurs.ts'
import { without } from './without.ts'

/** Behaviour id → what a store gets wrong. Each must be caught by its behaviour. */
export const stepSaboteurs: Readonly<Record<string, (good: SessionStateStore) => Broken>> = {
  'store/step/begin-stores-messages-and-journal': (good) => ({
    loadJournal: async (sessionId) =>
      (await good.loadJournal(sessionId)).toSorted((a, b) =>
        a.toolCallId < b.toolCallId ? -1 : 1,
      ),
  }),
  'store/step/result-of-a-call-is-recorded-at-once': () => ({ completeToolCall: async () => {} }),
  'store/step/unknown-call-is-not-found': () => ({ completeToolCall: async () => {} }),
  'store/step/commit-stores-all-at-once': (good) => {
    let journal: Awaited<ReturnType<SessionStateStore['loadJournal']>> = []
    return {
      beginStep: async (step) => {
        journal = step.journal
        await good.beginStep(step)
      },
      loadJournal: async () => journal,
    }
  },
  'store/step/commit-keeps-what-did-not-change': (good) => ({
    commitStep: (commit) =>
      good.commitStep({ ...commit, customState: commit.customState ?? { value: undefined } }),
  }),
  'store/step/commit-can-clear-the-state': (good) => ({
    commitStep: ({ customState, ...commit }) =>
      good.commitStep(customState?.value === undefined ? commit : { ...commit, customState }),
  }),
  'store/step/journal-outlives-its-run': (good) => {
    let runs = 0
    return {
      beginRun: (start) => {
        runs++
        return good.beginRun(start)
      },
      loadJournal: async (sessionId) => (runs > 1 ? [] : good.loadJournal(sessionId)),
    }
  },
  'store/step/begin-starts-a-new-journal': (good) => ({
    beginStep: async (step) => {
      const journal = [...(await good.loadJournal(step.sessionId)), ...step.journal]
      await good.beginStep({ ...step, journal })
    },
  }),
  'store/step/concurrent-results-are-all-kept': (good) => ({
    completeToolCall: async (write) => {
      const journal = await good.loadJournal(write.sessionId)
      await Promise.resolve()
      const next = journal.map((entry) =>
        entry.toolCallId === write.toolCallId ? { ...entry, result: write.result } : entry,
      )
      await good.beginStep({ ...write, messages: [], journal: next })
    },
  }),
  'store/ref/is-there-before-any-step': () => ({ saveWorkspaceRef: async () => {} }),
  'store/ref/is-replaced-and-removed-alone': (good) => ({
    saveWorkspaceRef: async (write) => {
      if (write.ref !== null) await good.saveWorkspaceRef(write)
    },
  }),
  'store/ref/outlives-the-run': (good) => ({
    endRun: async (end) => {
      await good.saveWorkspaceRef({ ...end, workspace: 'box', ref: null })
      return good.endRun(end)
    },
  }),

  'store/checkpoint/holds-the-state-after-its-step': (good) => ({
    getCheckpoint: async (sessionId, id) => {
      const [found, head] = [
        await good.getCheckpoint(sessionId, id),
        await good.loadSession(sessionId),
      ]
      return found && head && { ...found, customState: head.customState }
    },
  }),
  'store/checkpoint/unknown-is-null': (good) => ({
    getCheckpoint: async (sessionId, id) => {
      const found = await good.getCheckpoint(sessionId, id)
      return found ?? (await good.listCheckpoints('session')).items[0] ?? null
    },
  }),
  'store/checkpoint/list-is-newest-first': (good) => ({
    listCheckpoints: async (...args) => {
      const page = await good.listCheckpoints(...args)
      return { ...page, items: page.items.toReversed() }
    },
  }),
  'store/checkpoint/list-pages-to-the-end': (good) => ({
    listCheckpoints: async (sessionId, query) =>
      byOffset<Checkpoint>((await good.listCheckpoints(sessionId, { limit: 200 })).items, query),
  }),
  'store/checkpoint/list-has-limits': (good) => ({
    listCheckpoints: (sessionId, query) =>
      good.listCheckpoints(sessionId, { ...query, limit: query?.limit ?? 100 }),
  }),
  'store/checkpoint/bad-query-is-rejected': (good) => ({
    listCheckpoints: (sessionId) => good.listCheckpoints(sessionId),
  }),
  'store/restore/goes-back-to-the-checkpoint': (good) => ({
    restoreCheckpoint: async (...args) => ({
      ...(await good.restoreCheckpoint(...args)),
      status: 'running',
    }),
  }),
  'store/restore/keeps-refs-of-later-workspaces': (good) => ({
    restoreCheckpoint: async (sessionId, id, now) => {
      const checkpoint = await good.getCheckpoint(sessionId, id)
      const head = await good.restoreCheckpoint(sessionId, id, now)
      return { ...head, workspaceRefs: checkpoint!.workspaceRefs }
    },
  }),
  'store/restore/drops-later-checkpoints': (good) => {
    const seen: Checkpoint[] = []
    return {
      restoreCheckpoint: async (...args) => {
        seen.push(...(await good.listCheckpoints(args[0])).items)
        return good.restoreCheckpoint(...args)
      },
      getCheckpoint: async (_, id) => seen.find((checkpoint) => checkpoint.id === id) ?? null,
    }
  },
  'store/restore/forgets-the-step-under-way': (good) => {
    let journal: Awaited<ReturnType<SessionStateStore['loadJournal']>> = []
    return {
      restoreCheckpoint: async (...args) => {
        journal = await good.loadJournal(args[0])
        return good.restoreCheckpoint(...args)
      },
      loadJournal: async () => journal,
    }
  },
  'store/restore/session-goes-on-from-there': (good) => ({
    listRuns: async (sessionId) =>
      (await good.listRuns(sessionId)).map((run) => ({ ...run, stepCount: run.stepCount + 1 })),
  }),
  'store/restore/unknown-is-not-found': (good) => ({
    restoreCheckpoint: async (sessionId) => (await good.loadSession(sessionId))!,
  }),
  'store/restore/running-is-a-conflict': (good) => ({
    restoreCheckpoint: (sessionId, id, now) =>
      good.restoreCheckpoint(sessionId, id, now + 1_000_000),
  }),
  'store/restore/fences-an-abandoned-run': (good) => ({
    restoreCheckpoint: async (...args) => {
      const head = await good.restoreCheckpoint(...args)
      const lease = { runId: `again-${head.runId}`, leaseMs: 10, now: args[2] }
      await good.beginRun({ sessionId: args[0], ...lease })
      return head
    },
    appendMessages: async (write) =>
      good.appendMessages({ ...write, runId: `again-${write.runId}` }),
  }),

  'store/list/may-be-empty': (good) => ({
    listSessions: async (query) => ({ ...(await good.listSessions(query)), nextCursor: '0' }),
  }),
  'store/list/is-newest-first': (good) => ({
    listSessions: async (query) => {
      const page = await good.listSessions(query)
      return { ...page, items: page.items.toReversed() }
    },
  }),
  'store/list/has-heads': (good) => ({
    listSessions: async () => ({
      items: (await good.listSessions()).items.map((head) => without(head, 'customState') as never),
    }),
  }),
  'store/list/has-limits': (good) => ({
    listSessions: async (query) => {
      const all = [...(await good.listSessions({ limit: 200 })).items]
      return query?.limit === 1000 ? { items: [...all, ...all] } : good.listSessions(query)
    },
  }),
  'store/list/pages-to-the-end': (good) => ({
    listSessions: async (query) => {
      const { nextCursor: _, ...page } = await good.listSessions(query)
      return page
    },
  }),
  'store/list/filters-by-agent': (good) => ({
    listSessions: async (query) => {
      const page = await good.listSessions({
        limit: query?.limit ?? 50,
        ...query,
        agentType: undefined as never,
      })
      return { ...page, items: page.items.filter((head) => head.agentType === query?.agentType) }
    },
  }),
  'store/list/filters-by-status': (good) => ({
    listSessions: ({ limit, cursor, agentType } = {}) =>
      good.listSessions({
        ...(limit !== undefined && { limit }),
        ...(cursor !== undefined && { cursor }),
        ...(agentType !== undefined && { agentType }),
      }),
  }),
  'store/list/filters-by-prefix-of-id': (good) => ({
    listSessions: async ({ idPrefix = '', ...query } = {}) => {
      const page = await good.listSessions(query)
      const like = idPrefix.toLowerCase()
      const items = page.items.filter((head) => head.sessionId.toLowerCase().startsWith(like))
      return { ...page, items }
    },
  }),
  'store/list/filters-many-alike': (good) => ({
    listSessions: (query = {}) =>
      good.listSessions(
        query.agentType !== undefined && query.idPrefix !== undefined
          ? without(query, 'status')
          : query,
      ),
  }),
  'store/list/pages-stay-in-place': (good) => ({
    listSessions: async (query) =>
      byOffset<SessionState>((await good.listSessions({ limit: 200 })).items, query),
  }),
  'store/list/bad-query-is-rejected': (good) => ({ listSessions: () => good.listSessions() }),
}

/** Pages by offset, which move when entries come or go. */
function byOffset<T>(
  all: readonly T[],
  query: { limit?: number; cursor?: string } = {},
): { items: readonly T[]; nextCursor?: string } {
  const from = Number(query.cursor ?? 0)
  const to = from + (query.limit ?? 50)
  return { items: all.slice(from, to), ...(to < all.length && { nextCursor: String(to) }) }
}
