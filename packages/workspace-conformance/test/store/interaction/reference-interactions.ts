import { StateStoreError } from '@helix-agents/core'
import {
  assertStorable,
  type QueuedMessage,
  type RequestResolution,
  type RunWrite,
  type SessionInteractionStore,
  type SessionRequest,
  type SessionStateStore,
} from '@helix-agents/core/runtime'
import type { ReferenceRequest, Stored, StoredSessions } from '../reference-store.ts'

/** A reference store with requests, messages and stops, the simplest way. */
export function withInteractions(
  store: Omit<SessionStateStore, keyof SessionInteractionStore>,
  sessions: StoredSessions,
): SessionStateStore {
  const all = (): ReferenceRequest[] =>
    [...sessions.values()]
      .flatMap(({ requests }) => requests)
      .toSorted((one, other) => one.at - other.at)
  const find = (sessionId: string): Stored => {
    const stored = sessions.get(sessionId)
    if (stored === undefined) throw new StateStoreError('not-found', sessionId, 'unknown')
    return stored
  }
  const held = (write: RunWrite): Stored => {
    const stored = find(write.sessionId)
    if (stored.holder?.runId === write.runId) return stored
    throw new StateStoreError('conflict', write.sessionId, 'not held')
  }
  const listed = (sessionId: string, requestId: string): ReferenceRequest | undefined =>
    all().find(({ request }) => request.sessionId === sessionId && request.requestId === requestId)
  const add = (stored: Stored, request: SessionRequest): SessionRequest => {
    if (all().some((other) => other.request.requestId === request.requestId)) {
      throw new StateStoreError('conflict', request.sessionId, 'id')
    }
    find(request.sessionId)
    stored.requests.push({ at: (all().at(-1)?.at ?? 0) + 1, request, isLive: true })
    return request
  }
  const settle = (which: (request: SessionRequest) => boolean, at: number): void => {
    for (const one of all()) {
      if (one.isLive && which(one.request)) end(one, at)
    }
  }
  const settleAll = (sessionId: string, at: number): void =>
    settle(
      (request) => request.sessionId === sessionId || request.askingSessionId === sessionId,
      at,
    )
  const changed: Partial<SessionStateStore> = {
    beginRun: async (start) => {
      const head = await store.beginRun(start)
      find(start.sessionId).stop = undefined
      return head
    },
    endRun: async (given) => {
      const head = await store.endRun(given)
      find(given.sessionId).stop = undefined
      if (given.status === 'aborted') settleAll(given.sessionId, given.now)
      return head
    },
    completeToolCall: async (completion) => {
      await store.completeToolCall(completion)
      const { sessionId, toolCallId, now } = completion
      settle(
        (request) => request.askingSessionId === sessionId && request.toolCallId === toolCallId,
        now,
      )
    },
    commitStep: async (commit) => {
      await store.commitStep(commit)
      settleAll(commit.sessionId, commit.now)
    },
    restoreCheckpoint: async (sessionId, id, now, options) => {
      const head = await store.restoreCheckpoint(sessionId, id, now, options)
      settleAll(sessionId, now)
      return head
    },
    deleteSession: async (sessionId) => {
      await store.deleteSession(sessionId)
      for (const stored of sessions.values()) {
        stored.requests = stored.requests.filter(({ request }) => request.sessionId !== sessionId)
      }
    },
  }
  const interactions: SessionInteractionStore = {
    addRequests: async (write) => {
      assertStorable(write)
      const stored = held(write)
      if (write.requests.some((one) => one.askingSessionId !== write.sessionId)) {
        throw new StateStoreError('not-storable', write.sessionId, 'of another session')
      }
      const before = [...stored.requests]
      try {
        const added = write.requests.map((request) => {
          const known = stored.requests.find(
            (one) => one.isLive && one.request.toolCallId === request.toolCallId,
          )
          return known?.request ?? add(stored, request)
        })
        touch(stored)
        return added
      } catch (error) {
        stored.requests = before
        throw error
      }
    },
    getRequest: async (sessionId, requestId) => listed(sessionId, requestId)?.request,
    listRequests: async ({ sessionId, state, now, limit = 50, cursor = '0' }) => {
      if (sessionId !== undefined) find(sessionId)
      if (!Number.isInteger(limit) || limit < 1 || Number.isNaN(Number(cursor))) {
        throw new StateStoreError('invalid-query', '', 'query')
      }
      const isOpen = ({ resolution, expiresAt = Infinity }: SessionRequest): boolean =>
        resolution === undefined && expiresAt > now
      const found = all().filter(
        ({ at, request }) =>
          at > Number(cursor) &&
          (sessionId === undefined || request.sessionId === sessionId) &&
          (state === undefined || isOpen(request) === (state === 'open')),
      )
      const page = found.slice(0, limit)
      return {
        items: page.map(({ request }) => request),
        ...(found.length > limit && { nextCursor: String(page.at(-1)!.at) }),
      }
    },
    loadRequests: async (askingSessionId) =>
      find(askingSessionId)
        .requests.filter(({ isLive }) => isLive)
        .map(({ request }) => request),
    resolveRequest: async (sessionId, requestId, resolution) => {
      assertStorable({ sessionId, resolution })
      const one = listed(sessionId, requestId)
      if (one === undefined) throw new StateStoreError('not-found', sessionId, 'request')
      if (one.request.resolution !== undefined) return { request: one.request, isFirst: false }
      const { at, decision } = resolution
      const isAnswer = decision !== 'expired' && decision !== 'cancelled'
      const isLate = isAnswer && (one.request.expiresAt ?? Infinity) <= at
      const stored: RequestResolution = isLate ? { decision: 'expired', at } : resolution
      one.request = { ...one.request, resolution: stored }
      return { request: one.request, isFirst: !isLate }
    },
    isRemembered: async (sessionId, subject) => {
      find(sessionId)
      return all().some(({ request: { resolution, ...request } }) => {
        const isOf = request.sessionId === sessionId && request.subject === subject
        if (!isOf || resolution?.decision !== 'approve') return false
        return resolution.remember !== undefined && resolution.editedArguments === undefined
      })
    },
    startRequest: async (write) => {
      const one = held(write).requests.find(
        ({ isLive, request }) =>
          isLive &&
          request.requestId === write.requestId &&
          request.resolution?.decision === 'approve' &&
          request.startedAt === undefined,
      )
      if (one !== undefined) one.request = { ...one.request, startedAt: write.now }
      return one !== undefined
    },
    replaceRequest: async (write) => {
      const stored = held(write)
      const old = stored.requests.find(
        ({ isLive, request }) =>
          isLive && request.requestId === write.requestId && request.startedAt === undefined,
      )
      if (old === undefined) throw new StateStoreError('conflict', write.sessionId, 'request')
      add(stored, write.request)
      end(old, write.now)
      old.request = { ...old.request, replacedBy: write.request.requestId }
    },
    queueMessage: async (message) => {
      assertStorable(message)
      const { inbox } = find(message.sessionId)
      if (inbox.some((one) => one.message.messageId === message.messageId)) return
      inbox.push({ message, isQueued: true })
    },
    listQueuedMessages: async (sessionId, delivery) =>
      find(sessionId)
        .inbox.filter(({ isQueued }) => isQueued)
        .map(({ message }) => message)
        .filter((message) => delivery === undefined || message.delivery === delivery),
    deliverMessages: async (write) => {
      const stored = held(write)
      const messages = consume(stored, write.messageIds)
      if (messages.length === 0) return []
      stored.messages = [...stored.messages, ...messages.map(({ message }) => message)]
      const { outcome: _, ...head } = stored.head
      stored.head = head
      touch(stored)
      return messages
    },
    removeQueuedMessage: async (sessionId, messageId) =>
      consume(find(sessionId), [messageId]).length > 0,
    requestStop: async (sessionId, stop) => {
      const stored = find(sessionId)
      if (stored.stop !== 'abort') stored.stop = stop
    },
    loadSignals: async (sessionId) => {
      const { stop, inbox } = find(sessionId)
      const count = (delivery: string): number =>
        inbox.filter(({ isQueued, message }) => isQueued && message.delivery === delivery).length
      const isOf = (request: SessionRequest): boolean =>
        request.sessionId === sessionId || request.askingSessionId === sessionId
      const answered = all().filter(
        ({ isLive, request }) =>
          isLive && isOf(request) && request.resolution && request.startedAt === undefined,
      )
      return {
        ...(stop && { stop }),
        steering: count('steer'),
        followUps: count('followUp'),
        answered: answered.length,
      }
    },
  }
  return { ...store, ...changed, ...interactions }
}

function end(one: ReferenceRequest, at: number): void {
  one.isLive = false
  const { resolution = { decision: 'cancelled', at } } = one.request
  one.request = { ...one.request, resolution }
}

function touch(stored: Stored): void {
  const { version } = stored.head
  stored.head = { ...stored.head, version: version + 1, messageCount: stored.messages.length }
}

function consume(stored: Stored, ids: readonly string[]): readonly QueuedMessage[] {
  return ids.flatMap((id) => {
    const one = stored.inbox.find(({ message }) => message.messageId === id)
    if (one === undefined || !one.isQueued) return []
    one.isQueued = false
    return [one.message]
  })
}
