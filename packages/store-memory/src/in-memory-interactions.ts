import { StateStoreError } from '@helix-agents/core'
import {
  assertStorable,
  type MessageDelivery,
  type Page,
  type QueuedMessage,
  type RequestQuery,
  type RequestResolution,
  type RunWrite,
  type SessionInteractionStore,
  type SessionRequest,
  type SessionSignals,
  type StopRequest,
} from '@helix-agents/core/runtime'
import { RequestBook } from './request-book.ts'
import type { SessionRecord } from './session-record.ts'

/** The sessions of a store and what people and other processes have to do with them. */
export class InMemoryInteractions implements SessionInteractionStore {
  /** In the order of their making. */
  protected readonly sessions = new Map<string, SessionRecord>()
  protected readonly requests = new RequestBook()

  /** @throws {StateStoreError} `not-found`, `conflict`, `not-storable` */
  async addRequests(
    write: RunWrite & { readonly requests: readonly SessionRequest[] },
  ): Promise<readonly SessionRequest[]> {
    assertStorable(write)
    const record = this.writable(write)
    for (const { sessionId } of write.requests) this.find(sessionId)
    const stored = this.requests.add(write.sessionId, write.requests)
    record.touch(write.now)
    return stored
  }

  /** `undefined` for an unknown request, and for one of another session. */
  async getRequest(sessionId: string, requestId: string): Promise<SessionRequest | undefined> {
    return this.requests.get(sessionId, requestId)
  }

  /**
   * Oldest first.
   * @throws {StateStoreError} `invalid-query`, `not-found`
   */
  async listRequests(query: RequestQuery): Promise<Page<SessionRequest>> {
    if (query.sessionId !== undefined) this.find(query.sessionId)
    return this.requests.list(query)
  }

  /**
   * The live requests of one asking session, in the order they were made.
   * @throws {StateStoreError} `not-found`
   */
  async loadRequests(askingSessionId: string): Promise<readonly SessionRequest[]> {
    this.find(askingSessionId)
    return this.requests.live(askingSessionId)
  }

  /** @throws {StateStoreError} `not-found`, `not-storable` */
  async resolveRequest(
    sessionId: string,
    requestId: string,
    resolution: RequestResolution,
  ): Promise<{ readonly request: SessionRequest; readonly isFirst: boolean }> {
    assertStorable({ sessionId, requestId, resolution })
    return this.requests.resolve(sessionId, requestId, resolution)
  }

  /**
   * Whether an approval of this subject holds for the rest of the session.
   * @throws {StateStoreError} `not-found`
   */
  async isRemembered(sessionId: string, subject: string): Promise<boolean> {
    this.find(sessionId)
    return this.requests.isRemembered(sessionId, subject)
  }

  /** @throws {StateStoreError} `not-found`, `conflict` */
  async startRequest(write: RunWrite & { readonly requestId: string }): Promise<boolean> {
    this.writable(write).touch(write.now)
    return this.requests.start(write.sessionId, write.requestId, write.now)
  }

  /** @throws {StateStoreError} `not-found`, `conflict`, `not-storable` */
  async replaceRequest(
    write: RunWrite & { readonly requestId: string; readonly request: SessionRequest },
  ): Promise<void> {
    assertStorable({ sessionId: write.sessionId, requests: [write.request] })
    const record = this.writable(write)
    this.find(write.request.sessionId)
    this.requests.replace(write, write.requestId, write.request)
    record.touch(write.now)
  }

  /** @throws {StateStoreError} `not-found`, `not-storable` */
  async queueMessage(message: QueuedMessage): Promise<void> {
    assertStorable(message)
    this.find(message.sessionId).inbox.queue(message)
  }

  /**
   * Oldest first.
   * @throws {StateStoreError} `not-found`
   */
  async listQueuedMessages(
    sessionId: string,
    delivery?: MessageDelivery,
  ): Promise<readonly QueuedMessage[]> {
    return this.find(sessionId).inbox.list(delivery)
  }

  /** @throws {StateStoreError} `not-found`, `conflict` */
  async deliverMessages(
    write: RunWrite & { readonly messageIds: readonly string[] },
  ): Promise<readonly QueuedMessage[]> {
    const record = this.writable(write)
    const delivered = record.inbox.take(write.messageIds)
    if (delivered.length === 0) return delivered
    record.append(delivered.map(({ message }) => message))
    record.outcome = undefined
    record.touch(write.now)
    return delivered
  }

  /** @throws {StateStoreError} `not-found` */
  async removeQueuedMessage(sessionId: string, messageId: string): Promise<boolean> {
    return this.find(sessionId).inbox.take([messageId]).length > 0
  }

  /** @throws {StateStoreError} `not-found` */
  async requestStop(sessionId: string, stop: StopRequest): Promise<void> {
    this.find(sessionId).inbox.requestStop(stop)
  }

  /** @throws {StateStoreError} `not-found` */
  async loadSignals(sessionId: string): Promise<SessionSignals> {
    const { inbox } = this.find(sessionId)
    const { stop } = inbox
    return {
      ...(stop !== undefined && { stop }),
      steering: inbox.list('steer').length,
      followUps: inbox.list('followUp').length,
      answered: this.requests.countAnswered(sessionId),
    }
  }

  protected find(sessionId: string): SessionRecord {
    const record = this.sessions.get(sessionId)
    if (record === undefined) throw new StateStoreError('not-found', sessionId, 'no such session')
    return record
  }

  protected writable(write: RunWrite): SessionRecord {
    const record = this.find(write.sessionId)
    record.assertHeldBy(write)
    return record
  }
}
