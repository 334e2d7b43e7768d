import { StateStoreError } from '@helix-agents/core'
import {
  assertStorable,
  isStorableId,
  type MessageDelivery,
  type QueuedMessage,
  type RequestPage,
  type RequestQuery,
  type RequestResolution,
  type RunWrite,
  type SessionInteractionStore,
  type SessionRequest,
  type SessionSignals,
  type StopRequest,
} from '@helix-agents/core/runtime'
import type { SqlDatabase, SqlStatements } from '../../sql-database.ts'
import { withWholeTexts } from '../columns/long-texts.ts'
import { toStateStoreError } from '../to-state-store-error.ts'
import {
  deliverMessages,
  listQueuedMessages,
  loadSignals,
  prepareQueue,
  removeQueuedMessage,
  requestStop,
} from './inbox.ts'
import { listRequests } from './list-requests.ts'
import {
  getRequest,
  isRemembered,
  loadRequests,
  prepareAddRequests,
  prepareReplace,
  prepareResolve,
  startRequest,
} from './requests.ts'

/** Requests to people, queued messages and stop requests of sessions: a part of `SqlStateStore`. */
export abstract class SqlInteractionStore implements SessionInteractionStore {
  readonly #database: SqlDatabase

  constructor(database: SqlDatabase) {
    this.#database = database
  }

  /** @throws {StateStoreError} `not-found`, `conflict`, `not-storable` */
  async addRequests(
    add: RunWrite & { readonly requests: readonly SessionRequest[] },
  ): Promise<readonly SessionRequest[]> {
    assertStorable(add)
    return this.write(add.sessionId, prepareAddRequests(add))
  }

  /** `undefined` for an unknown request, and for one of another session. */
  async getRequest(sessionId: string, requestId: string): Promise<SessionRequest | undefined> {
    if (!isStorableId(sessionId) || !isStorableId(requestId)) return undefined
    return this.read(sessionId, (sql) => getRequest(sql, sessionId, requestId))
  }

  /** Oldest first. @throws {StateStoreError} `not-found`, `invalid-query` */
  async listRequests(query: RequestQuery): Promise<RequestPage> {
    return this.read(query.sessionId ?? '', (sql) => listRequests(sql, query))
  }

  /** The live requests of one asking session, in the order they were made. */
  async loadRequests(askingSessionId: string): Promise<readonly SessionRequest[]> {
    return this.read(askingSessionId, (sql) => loadRequests(sql, askingSessionId))
  }

  /** Stores the first answer. @throws {StateStoreError} `not-found`, `not-storable` */
  async resolveRequest(
    sessionId: string,
    requestId: string,
    resolution: RequestResolution,
  ): Promise<{ readonly request: SessionRequest; readonly isFirst: boolean }> {
    if (!isStorableId(sessionId) || !isStorableId(requestId)) {
      throw new StateStoreError('not-found', '', 'no such request')
    }
    assertStorable({ sessionId, resolution })
    return this.write(sessionId, prepareResolve({ sessionId, requestId, resolution }))
  }

  /** Whether an approval of this subject was given for the rest of the session. */
  async isRemembered(sessionId: string, subject: string): Promise<boolean> {
    return this.read(sessionId, (sql) => isRemembered(sql, sessionId, subject))
  }

  /** Whether the call of an approved request was not started before. */
  async startRequest(write: RunWrite & { readonly requestId: string }): Promise<boolean> {
    assertStorable(write)
    return this.write(write.sessionId, (sql) => startRequest(sql, write))
  }

  /** @throws {StateStoreError} `not-found`, `conflict`, `not-storable` */
  async replaceRequest(
    write: RunWrite & { readonly requestId: string; readonly request: SessionRequest },
  ): Promise<void> {
    const { sessionId, requestId, request } = write
    assertStorable({ sessionId, requestId, requests: [request] })
    return this.write(sessionId, prepareReplace(write))
  }

  /** Stores a message. The same `messageId` again changes nothing. */
  async queueMessage(message: QueuedMessage): Promise<void> {
    assertStorable(message)
    return this.write(message.sessionId, prepareQueue(message))
  }

  /** Oldest first. @throws {StateStoreError} `not-found` */
  async listQueuedMessages(
    sessionId: string,
    delivery?: MessageDelivery,
  ): Promise<readonly QueuedMessage[]> {
    return this.read(sessionId, (sql) => listQueuedMessages(sql, sessionId, delivery))
  }

  /** Moves queued messages to the end of the conversation, in the order given. */
  async deliverMessages(
    write: RunWrite & { readonly messageIds: readonly string[] },
  ): Promise<readonly QueuedMessage[]> {
    return this.write(write.sessionId, (sql) => deliverMessages(sql, write))
  }

  /** Whether the message was there. @throws {StateStoreError} `not-found` */
  async removeQueuedMessage(sessionId: string, messageId: string): Promise<boolean> {
    return this.write(sessionId, (sql) => removeQueuedMessage(sql, sessionId, messageId))
  }

  /** Stores a stop for the run that holds the session. @throws {StateStoreError} `not-found` */
  async requestStop(sessionId: string, stop: StopRequest): Promise<void> {
    return this.write(sessionId, (sql) => requestStop(sql, sessionId, stop))
  }

  /** One statement, no messages. @throws {StateStoreError} `not-found` */
  async loadSignals(sessionId: string): Promise<SessionSignals> {
    return this.read(sessionId, (sql) => loadSignals(sql, sessionId))
  }

  protected async read<T>(sessionId: string, work: (sql: SqlStatements) => T): Promise<T> {
    if (!isStorableId(sessionId)) throw new StateStoreError('not-found', '', 'no such session')
    try {
      return await this.#database.read((sql) => work(withWholeTexts(sql)))
    } catch (error) {
      throw toStateStoreError(error, sessionId)
    }
  }

  protected async write<T>(sessionId: string, work: (sql: SqlStatements) => T): Promise<T> {
    try {
      return await this.#database.write((sql) => work(withWholeTexts(sql)))
    } catch (error) {
      throw toStateStoreError(error, sessionId)
    }
  }
}
