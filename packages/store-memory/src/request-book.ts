import { StateStoreError } from '@helix-agents/core'
import {
  type Page,
  parsePageQuery,
  type RequestQuery,
  type RequestResolution,
  type SessionRequest,
  toCursor,
} from '@helix-agents/core/runtime'

/** A request and its place in the order of all. */
interface StoredRequest {
  readonly ordinal: number
  request: SessionRequest
  /** Its call has no result yet. */
  isLive: boolean
}

/** The requests of all sessions of a store. */
export class RequestBook {
  /** In the order of their making. */
  readonly #byId = new Map<string, StoredRequest>()
  readonly #byLister = new Map<string, StoredRequest[]>()
  readonly #live = new Map<string, StoredRequest[]>()
  #made = 0

  /** @throws {StateStoreError} `conflict` when another request has an id. */
  add(sessionId: string, requests: readonly SessionRequest[]): readonly SessionRequest[] {
    if (requests.some(({ askingSessionId }) => askingSessionId !== sessionId)) {
      throw new StateStoreError('not-storable', sessionId, 'another session asks')
    }
    const byCall = new Map(this.live(sessionId).map((request) => [request.toolCallId, request]))
    const added = new Map<string, SessionRequest>()
    for (const request of requests) {
      if (byCall.has(request.toolCallId)) continue
      if (added.has(request.requestId)) throw idIsTaken(sessionId)
      this.#assertFree(sessionId, request)
      added.set(request.requestId, request)
      byCall.set(request.toolCallId, request)
    }
    for (const request of added.values()) this.#insert(request)
    return requests.map((request) => byCall.get(request.toolCallId) ?? request)
  }

  get(sessionId: string, requestId: string): SessionRequest | undefined {
    return this.#listed(sessionId, requestId)?.request
  }

  list(query: RequestQuery): Page<SessionRequest> {
    const { limit, above } = parsePageQuery(query)
    const all =
      query.sessionId === undefined ? this.#byId.values() : this.#listOf(query.sessionId).values()
    const found = [...all].filter(
      ({ ordinal, request }) => ordinal > above && isAsked(request, query),
    )
    const page = found.slice(0, limit)
    const last = page.at(-1)
    const hasMore = last !== undefined && found.length > limit
    return {
      items: page.map(({ request }) => request),
      ...(hasMore && { nextCursor: toCursor(last.ordinal) }),
    }
  }

  /** Requests of calls of one asking session that have no result. */
  live(askingSessionId: string): readonly SessionRequest[] {
    return (this.#live.get(askingSessionId) ?? []).map(({ request }) => request)
  }

  /** @throws {StateStoreError} `not-found` */
  resolve(
    sessionId: string,
    requestId: string,
    resolution: RequestResolution,
  ): { readonly request: SessionRequest; readonly isFirst: boolean } {
    const stored = this.#listed(sessionId, requestId)
    if (stored === undefined) throw noSuchRequest(sessionId)
    const { request } = stored
    if (request.resolution !== undefined) return { request, isFirst: false }
    const isLate = isAnswer(resolution) && isExpired(request, resolution.at)
    const counts: RequestResolution = isLate
      ? { decision: 'expired', at: resolution.at }
      : resolution
    stored.request = { ...request, resolution: counts }
    return { request: stored.request, isFirst: !isLate }
  }

  isRemembered(sessionId: string, subject: string): boolean {
    return this.#listOf(sessionId).some(({ request }) => {
      const { resolution } = request
      return (
        request.subject === subject &&
        resolution?.decision === 'approve' &&
        resolution.remember === 'session' &&
        resolution.editedArguments === undefined
      )
    })
  }

  /** @returns whether it was not started before */
  start(sessionId: string, requestId: string, now: number): boolean {
    const stored = this.#asked(sessionId, requestId)
    if (stored === undefined) return false
    const { request } = stored
    const isFirst =
      stored.isLive && request.resolution?.decision === 'approve' && request.startedAt === undefined
    if (isFirst) stored.request = { ...request, startedAt: now }
    return isFirst
  }

  /** @throws {StateStoreError} `conflict` */
  replace(
    { sessionId, now }: { readonly sessionId: string; readonly now: number },
    requestId: string,
    by: SessionRequest,
  ): void {
    const old = this.#asked(sessionId, requestId)
    if (old?.isLive !== true || old.request.startedAt !== undefined) {
      throw new StateStoreError('conflict', sessionId, 'no such request is to be started')
    }
    this.#assertFree(sessionId, by)
    this.#end(old, now)
    old.request = { ...old.request, replacedBy: by.requestId }
    const left = this.#liveOf(sessionId).filter((each) => each !== old)
    setList(this.#live, sessionId, left)
    this.#insert(by)
  }

  /** Calls of an asking session have their results: all of them, or one. */
  endCalls(askingSessionId: string, now: number, toolCallId?: string): void {
    const live = this.#live.get(askingSessionId)
    if (live === undefined) return
    const isOver = ({ request }: StoredRequest): boolean =>
      toolCallId === undefined || request.toolCallId === toolCallId
    for (const stored of live) if (isOver(stored)) this.#end(stored, now)
    const left = live.filter((stored) => stored.isLive)
    setList(this.#live, askingSessionId, left)
  }

  /** A session was stopped or taken back: nothing that it asks or lists is open any more. */
  endSession(sessionId: string, now: number): void {
    this.endCalls(sessionId, now)
    const asking = new Set(this.#listOf(sessionId).map(({ request }) => request.askingSessionId))
    for (const id of asking) this.endCalls(id, now)
  }

  /** Requests that were answered, and whose calls were not started and have no result. */
  countAnswered(sessionId: string): number {
    const about = new Set([...this.#listOf(sessionId), ...this.#liveOf(sessionId)])
    return [...about].filter(isAnswered).length
  }

  deleteSession(sessionId: string): void {
    for (const [id, { request }] of this.#byId) {
      const { sessionId: lister, askingSessionId } = request
      if (lister !== sessionId && askingSessionId !== sessionId) continue
      this.#byId.delete(id)
      this.#live.delete(askingSessionId)
      const left = this.#listOf(lister).filter((each) => each.request.requestId !== id)
      setList(this.#byLister, lister, left)
    }
  }

  #insert(request: SessionRequest): void {
    const stored = { ordinal: this.#made++, request, isLive: true }
    this.#byId.set(request.requestId, stored)
    append(this.#byLister, request.sessionId, stored)
    append(this.#live, request.askingSessionId, stored)
  }

  #end(stored: StoredRequest, now: number): void {
    stored.isLive = false
    const { request } = stored
    if (request.resolution !== undefined) return
    stored.request = { ...request, resolution: { decision: 'cancelled', at: now } }
  }

  #assertFree(sessionId: string, { requestId }: SessionRequest): void {
    if (!this.#byId.has(requestId)) return
    throw idIsTaken(sessionId)
  }

  #listed(sessionId: string, requestId: string): StoredRequest | undefined {
    const stored = this.#byId.get(requestId)
    return stored?.request.sessionId === sessionId ? stored : undefined
  }

  #asked(sessionId: string, requestId: string): StoredRequest | undefined {
    const stored = this.#byId.get(requestId)
    return stored?.request.askingSessionId === sessionId ? stored : undefined
  }

  #listOf(sessionId: string): readonly StoredRequest[] {
    return this.#byLister.get(sessionId) ?? []
  }

  #liveOf(askingSessionId: string): readonly StoredRequest[] {
    return this.#live.get(askingSessionId) ?? []
  }
}

function append<T>(lists: Map<string, T[]>, key: string, item: T): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [item])
  else list.push(item)
}

/** Nothing is kept of an empty one. */
function setList<T>(lists: Map<string, T[]>, key: string, list: T[]): void {
  if (list.length > 0) lists.set(key, list)
  else lists.delete(key)
}

function isExpired({ expiresAt = Infinity }: SessionRequest, now: number): boolean {
  return now >= expiresAt
}

/** It has an answer that no run has acted on. */
function isAnswered({ isLive, request }: StoredRequest): boolean {
  return isLive && request.resolution !== undefined && request.startedAt === undefined
}

function isAnswer({ decision }: RequestResolution): boolean {
  return decision !== 'expired' && decision !== 'cancelled'
}

function isAsked(request: SessionRequest, { state, now }: RequestQuery): boolean {
  if (state === undefined) return true
  const isOpen = request.resolution === undefined && !isExpired(request, now)
  return isOpen === (state === 'open')
}

function idIsTaken(sessionId: string): StateStoreError {
  return new StateStoreError('conflict', sessionId, 'another request has this id')
}

function noSuchRequest(sessionId: string): StateStoreError {
  return new StateStoreError('not-found', sessionId, 'no such request')
}
