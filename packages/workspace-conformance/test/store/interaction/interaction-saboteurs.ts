import { without } from '../without.ts'
import type { Sabotage } from './request-saboteurs.ts'

export const answerSaboteurs: Readonly<Record<string, Sabotage>> = {
  'store/answer/first-one-counts': (good) => ({
    resolveRequest: async (...args) => ({ ...(await good.resolveRequest(...args)), isFirst: true }),
  }),
  'store/answer/one-of-many-concurrent-counts': (good) => ({
    resolveRequest: async (sessionId, requestId, resolution) => {
      const before = await good.getRequest(sessionId, requestId)
      const { request } = await good.resolveRequest(sessionId, requestId, resolution)
      return { request, isFirst: before?.resolution === undefined }
    },
  }),
  'store/answer/keeps-all-that-is-said': (good) => ({
    resolveRequest: (sessionId, requestId, resolution) =>
      good.resolveRequest(sessionId, requestId, without(resolution, 'by') as never),
  }),
  'store/answer/comes-too-late-once-it-is-expired': (good) => ({
    addRequests: (write) =>
      good.addRequests({
        ...write,
        requests: write.requests.map((one) => without(one, 'expiresAt')) as never,
      }),
  }),
  'store/answer/needs-no-run-and-changes-no-session': (good) => ({
    loadSession: async (sessionId) => {
      const head = await good.loadSession(sessionId)
      const { items } = await good.listRequests({ now: 0, state: 'resolved' })
      return head && { ...head, version: head.version + items.length }
    },
  }),
  'store/answer/rejects-what-it-cannot-keep': (good) => ({
    resolveRequest: (sessionId, requestId, { at }) =>
      good.resolveRequest(sessionId, requestId, { decision: 'deny', at }),
  }),
  'store/answer/is-remembered-for-its-subject': (good) => ({
    isRemembered: async (sessionId, subject) => {
      await good.isRemembered(sessionId, subject)
      const { items } = await good.listRequests({ sessionId, now: 0 })
      return items.some((one) => one.subject === subject && one.resolution !== undefined)
    },
  }),
  'store/answer/is-remembered-for-its-session': (good) => ({
    isRemembered: (_, subject) => good.isRemembered('session', subject),
  }),
}

export const inboxSaboteurs: Readonly<Record<string, Sabotage>> = {
  'store/inbox/keeps-messages-in-order': (good) => ({
    listQueuedMessages: async (...args) =>
      (await good.listQueuedMessages(...args)).toSorted((one, other) =>
        one.messageId < other.messageId ? -1 : 1,
      ),
  }),
  'store/inbox/keeps-files-and-hostile-texts': (good) => ({
    queueMessage: (queued) =>
      good.queueMessage({ ...queued, message: without(queued.message, 'files') }),
  }),
  'store/inbox/stores-an-id-once': (good) => ({
    queueMessage: async (queued) => {
      const all = await good.listQueuedMessages(queued.sessionId)
      const isQueued = all.some(({ messageId }) => messageId === queued.messageId)
      const messageId = isQueued ? queued.messageId : `${queued.messageId} ${Math.random()}`
      await good.queueMessage({ ...queued, messageId })
    },
  }),
  'store/inbox/delivers-in-the-order-given': (good) => ({
    deliverMessages: (write) =>
      good.deliverMessages({ ...write, messageIds: write.messageIds.toSorted() }),
  }),
  'store/inbox/delivers-once': (good) => ({
    deliverMessages: async (write) => {
      const all = await good.listQueuedMessages(write.sessionId)
      await good.deliverMessages(write)
      return all.filter(({ messageId }) => write.messageIds.includes(messageId))
    },
  }),
  'store/inbox/delivering-clears-the-outcome': (good) => ({
    deliverMessages: async (write) => {
      await good.appendMessages({ ...write, messages: [] })
      return good.deliverMessages(write)
    },
  }),
  'store/inbox/delivers-to-the-run-that-holds-the-session': (good) => ({
    deliverMessages: async (write) => {
      if (write.messageIds.length === 0) return []
      return good.deliverMessages(write)
    },
  }),
  'store/inbox/removes-what-was-not-delivered': (good) => ({
    removeQueuedMessage: async (...args) => {
      await good.removeQueuedMessage(...args)
      return true
    },
  }),
  'store/inbox/outlives-runs-and-restoring': (good) => ({
    endRun: async (end) => {
      for (const { messageId } of await good.listQueuedMessages(end.sessionId)) {
        await good.removeQueuedMessage(end.sessionId, messageId)
      }
      return good.endRun(end)
    },
  }),
  'store/inbox/is-of-one-session': (good) => ({
    removeQueuedMessage: (_, messageId) => good.removeQueuedMessage('session', messageId),
  }),
  'store/inbox/rejects-what-it-cannot-keep': (good) => ({
    queueMessage: (queued) =>
      good.queueMessage({ ...queued, messageId: queued.messageId.slice(0, 1024) }),
  }),
}

export const signalSaboteurs: Readonly<Record<string, Sabotage>> = {
  'store/signal/counts-queued-messages': (good) => ({
    loadSignals: async (sessionId) => ({
      ...(await good.loadSignals(sessionId)),
      followUps: (await good.listQueuedMessages(sessionId)).length,
    }),
  }),
  'store/signal/counts-answers-that-wait-for-the-run': (good) => ({
    loadSignals: async (sessionId) => {
      const live = await good.loadRequests(sessionId)
      const answered = live.filter(({ resolution }) => resolution !== undefined).length
      return { ...(await good.loadSignals(sessionId)), answered }
    },
  }),
  'store/signal/counts-answers-of-sub-agents': (good) => ({
    loadSignals: async (sessionId) => {
      const live = await good.loadRequests(sessionId)
      const answered = live.filter((one) => one.resolution && one.startedAt === undefined).length
      return { ...(await good.loadSignals(sessionId)), answered }
    },
  }),
  'store/signal/counts-no-answers-of-calls-that-are-gone': (good) => ({
    loadSignals: async (sessionId) => {
      const { items } = await good.listRequests({ sessionId, now: 0, state: 'resolved' })
      return { ...(await good.loadSignals(sessionId)), answered: items.length }
    },
  }),
  'store/signal/keeps-the-stronger-stop': (good) => {
    let last: 'interrupt' | 'abort' | undefined
    return {
      requestStop: async (_, stop) => void (last = stop),
      loadSignals: async (sessionId) => ({
        ...(await good.loadSignals(sessionId)),
        ...(last && { stop: last }),
      }),
    }
  },
  'store/signal/stop-ends-with-the-run': (good) => ({
    endRun: async (end) => {
      const { stop } = await good.loadSignals(end.sessionId)
      const head = await good.endRun(end)
      if (stop !== undefined) await good.requestStop(end.sessionId, stop)
      return head
    },
  }),
  'store/signal/of-an-unknown-session-is-not-found': (good) => ({
    requestStop: (sessionId, stop) => good.requestStop(sessionId, stop).catch(() => undefined),
  }),
}
