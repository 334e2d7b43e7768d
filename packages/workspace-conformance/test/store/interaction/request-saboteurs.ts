import type { SessionRequest, SessionStateStore } from '@helix-agents/core/runtime'
import { without } from '../without.ts'

/** Behaviour id → what a store gets wrong. Each must be caught by its behaviour. */
export type Sabotage = (good: SessionStateStore) => Partial<SessionStateStore>

/** A store that still lists some requests after their session is deleted. */
const keepsDeleted =
  (isKept: (request: SessionRequest, deleted: string) => boolean): Sabotage =>
  (good) => {
    const kept: SessionRequest[] = []
    return {
      deleteSession: async (sessionId) => {
        const { items } = await good.listRequests({ now: 0 })
        kept.push(...items.filter((request) => isKept(request, sessionId)))
        await good.deleteSession(sessionId)
      },
      listRequests: async (query) => {
        const page = await good.listRequests(query)
        return { ...page, items: [...page.items, ...kept] }
      },
    }
  }

export const requestSaboteurs: Readonly<Record<string, Sabotage>> = {
  'store/request/keeps-all-that-is-asked': (good) => ({
    addRequests: (write) =>
      good.addRequests({
        ...write,
        requests: write.requests.map((one) => ({
          ...one,
          arguments: JSON.stringify(JSON.parse(one.arguments)),
        })),
      }),
  }),
  'store/request/keeps-hostile-texts': (good) => ({
    getRequest: async (sessionId, requestId) => {
      const request = await good.getRequest(sessionId, requestId)
      return request && { ...request, arguments: request.arguments.replaceAll('\0', '') }
    },
  }),
  'store/request/keeps-long-arguments': (good) => ({
    getRequest: async (sessionId, requestId) => {
      const request = await good.getRequest(sessionId, requestId)
      return request && { ...request, arguments: request.arguments.slice(0, 65_536) }
    },
  }),
  'store/request/one-per-call': (good) => ({
    addRequests: async (write) => (await good.addRequests(write)).toReversed(),
  }),
  'store/request/is-listed-by-a-session-that-exists': (good) => ({
    replaceRequest: (write) =>
      good.replaceRequest({ ...write, request: { ...write.request, sessionId: write.sessionId } }),
  }),
  'store/request/does-not-speak-for-a-later-step': (good) => ({
    commitStep: async (commit) => {
      const live = await good.loadRequests(commit.sessionId)
      await good.commitStep(commit)
      for (const one of live) {
        const requestId = `again ${one.requestId}`
        await good.addRequests({ ...commit, requests: [{ ...one, requestId }] })
      }
    },
  }),
  'store/request/fences-the-run': (good) => ({
    startRequest: async (write) => {
      const { runId = '' } = (await good.loadSession(write.sessionId)) ?? {}
      return good.startRequest({ ...write, runId })
    },
  }),
  'store/request/is-not-that-of-another-session': (good) => ({
    resolveRequest: (_, requestId, resolution) =>
      good.resolveRequest('session', requestId, resolution),
  }),
  'store/request/id-is-used-once': (good) => ({
    addRequests: async (write) => {
      const added = []
      for (const request of write.requests) {
        added.push(...(await good.addRequests({ ...write, requests: [request] })))
      }
      return added
    },
  }),
  'store/request/rejects-what-it-cannot-keep': (good) => ({
    addRequests: async (write) => {
      const short = write.requests.map((one) => ({
        ...one,
        requestId: one.requestId.slice(0, 1024),
      }))
      return good.addRequests({ ...write, requests: short })
    },
  }),
  'store/request/of-a-sub-agent-is-listed-by-its-root': (good) => ({
    listRequests: async (query) => {
      const page = await good.listRequests(query)
      const items = page.items.filter((one) => one.askingSessionId === one.sessionId)
      return { ...page, items }
    },
  }),
  'store/request/starts-once': (good) => ({
    startRequest: async (write) => {
      await good.startRequest(write)
      const request = await good.getRequest(write.sessionId, write.requestId)
      return request?.resolution?.decision === 'approve'
    },
  }),
  'store/request/is-replaced-by-another-one': (good) => ({
    replaceRequest: async (write) => {
      const at = write.now
      const { sessionId, requestId } = write
      await good.resolveRequest(sessionId, requestId, { decision: 'cancelled', at })
    },
  }),
  'store/request/is-not-replaced-once-it-runs': (good) => ({
    replaceRequest: (write) => good.replaceRequest(write).catch(() => undefined),
  }),
  'store/request/ends-with-its-call': (good) => ({
    loadRequests: async (sessionId) => (await good.listRequests({ sessionId, now: 0 })).items,
  }),
  'store/request/ends-with-its-step': (good) => ({
    loadRequests: async (sessionId) => (await good.listRequests({ sessionId, now: 0 })).items,
  }),
  'store/request/outlives-its-run': (good) => ({
    endRun: async (end) => {
      const now = end.now
      for (const { requestId } of await good.loadRequests(end.sessionId)) {
        await good.resolveRequest(end.sessionId, requestId, { decision: 'cancelled', at: now })
      }
      return good.endRun(end)
    },
  }),
  'store/request/is-cancelled-by-an-abort': (good) => ({
    endRun: (end) =>
      good.endRun(end.sessionId === 'session' ? { ...end, status: 'interrupted' } : end),
  }),
  'store/request/is-cancelled-by-the-abort-of-its-sub-agent': (good) => ({
    endRun: (end) =>
      good.endRun(end.sessionId === 'session' ? end : { ...end, status: 'interrupted' }),
  }),
  'store/request/is-cancelled-by-restoring': (good) => ({
    restoreCheckpoint: async (sessionId) => (await good.loadSession(sessionId))!,
  }),
  'store/request/is-deleted-with-the-session-that-lists-it': keepsDeleted(
    (request, deleted) => request.askingSessionId !== deleted,
  ),
  'store/request/is-deleted-with-the-session-that-asks': keepsDeleted(
    (request, deleted) => request.sessionId !== deleted,
  ),
  'store/request/list-pages-oldest-first': (good) => ({
    listRequests: async (query) => {
      const page = await good.listRequests(query)
      return { ...page, items: page.items.toReversed() }
    },
  }),
  'store/request/list-ends-with-its-last-page': (good) => ({
    listRequests: async (query) => ({
      nextCursor: '99999',
      ...(await good.listRequests(query)),
    }),
  }),
  'store/request/list-of-what-is-open-or-resolved': (good) => ({
    listRequests: (query) => good.listRequests({ ...query, now: 0 }),
  }),
  'store/request/list-rejects-bad-queries': (good) => ({
    listRequests: (query) => good.listRequests(without(query, 'cursor')),
  }),
}
