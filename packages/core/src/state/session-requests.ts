import type { UserMessage } from '../llm/messages.ts'
import type { JsonValue } from '../tools/json-schema.ts'
import type { Page, PageQuery } from './page-query.ts'
import type { RunWrite } from './run-write.ts'

/**
 * What a person is asked. `approval`: may this call run? `question`: the tool of `askUserTool`.
 * `client-tool`: a tool without `execute`, whose output a client gives.
 */
export type RequestKind = 'approval' | 'question' | 'client-tool'

/** What a person sees before deciding. Secrets are redacted and hidden characters made visible. */
export interface RequestPreview {
  /** One line: the command as words, or what the call does to which path. */
  readonly title: string
  /** A unified diff, the list of what is removed, or the arguments as JSON. */
  readonly body?: string
  /** How `body` is to be shown. Default: `text`. */
  readonly format?: 'diff' | 'text' | 'json'
  /** The body was cut at its limit. */
  readonly truncated?: boolean
  /**
   * What the preview was made from, such as the digests of the files it shows. An approval whose basis
   * is no longer true is void.
   */
  readonly basis?: JsonValue
}

/** What a person decided. */
export type RequestAnswer =
  | {
      readonly decision: 'approve'
      /** Replaces the arguments; validated before it is stored. The bytes as they run. */
      readonly editedArguments?: string
      /** Calls like this one are not asked for again in the session. */
      readonly remember?: 'session'
      readonly reason?: string
    }
  | { readonly decision: 'deny'; readonly reason?: string }
  /** The result of a question or of a tool that runs at the client. */
  | { readonly decision: 'output'; readonly output: JsonValue }

/** The first answer to a request. It never changes. */
export type RequestResolution = (RequestAnswer | { readonly decision: 'expired' | 'cancelled' }) & {
  /** Who answered, as the caller says. Absent without an answer, and when the caller does not say. */
  readonly by?: string
  /** Milliseconds since the epoch. */
  readonly at: number
}

/** A call that waits for a person. */
export interface SessionRequest {
  /** Random and unguessable; unique in the store. */
  readonly requestId: string
  /** The session that lists it: the root of the sub-agent that asks, or the asking session itself. */
  readonly sessionId: string
  /** The session whose call waits. */
  readonly askingSessionId: string
  /** Names of the agents from the root to the one that asks. */
  readonly agentPath: readonly string[]
  readonly kind: RequestKind
  readonly toolCallId: string
  readonly toolName: string
  /** The exact JSON text of the arguments. */
  readonly arguments: string
  readonly preview: RequestPreview
  /**
   * Calls with the same subject are alike: a digest of the agent path, the tool, the workspace and what
   * the call does. An approval that is remembered holds for it. Default: none is remembered.
   */
  readonly subject?: string
  /** Milliseconds since the epoch. */
  readonly createdAt: number
  /** From then on the request counts as denied. Default: never. */
  readonly expiresAt?: number
  /** Absent while it is open. */
  readonly resolution?: RequestResolution
  /** When the approved call was started: from then on it is never started again. */
  readonly startedAt?: number
  /** The request that was made instead, because its basis changed: it is void. */
  readonly replacedBy?: string
}

/** Which requests; all of what is given must hold. */
export interface RequestQuery extends PageQuery {
  readonly sessionId?: string
  /** `open`: without a resolution and not expired at `now`. Default: all. */
  readonly state?: 'open' | 'resolved'
  /** Decides what is expired. */
  readonly now: number
}

/** A page of requests. */
export interface RequestPage extends Page<SessionRequest> {
  /** Ids of requests of this page whose stored data is damaged; absent when there are none. */
  readonly unreadable?: readonly string[]
}

/**
 * When a queued message reaches the model. `steer`: before the next model call of the run.
 * `followUp`: as the next turn.
 */
export type MessageDelivery = 'steer' | 'followUp'

/** A message that was sent to a session and is not part of its conversation yet. */
export interface QueuedMessage {
  /** Given by the sender, or random: the same id is stored once. */
  readonly messageId: string
  readonly sessionId: string
  readonly delivery: MessageDelivery
  readonly message: UserMessage
  /** Milliseconds since the epoch. */
  readonly createdAt: number
}

/** `interrupt`: after the step under way. `abort`: at once. */
export type StopRequest = 'interrupt' | 'abort'

/** What other processes want of the run that holds a session. */
export interface SessionSignals {
  readonly stop?: StopRequest
  /** Queued messages by delivery. */
  readonly steering: number
  readonly followUps: number
  /**
   * Requests with a resolution, of calls that were not started and have no result. Those of its
   * sub-agents count too.
   */
  readonly answered: number
}

/**
 * Requests to people, queued messages and stop requests of sessions. Every method is atomic; errors are
 * those of `SessionStateStore`, also `not-found` for an unknown session unless said otherwise. Writes
 * with a `RunWrite` carry the fence of the run: of the session whose call waits.
 *
 * A request is _live_ as long as its call has no result: until `completeToolCall` of that call or
 * `commitStep`. The id of a call names it within its step only, so that a request never speaks for a
 * call of a later step. What ends the call otherwise ends the request as well, as `cancelled` when it
 * was open: `endRun` with `aborted` and `restoreCheckpoint`, of the asking session or of the one that
 * lists it. Deleting either session deletes it.
 */
export interface SessionInteractionStore {
  /**
   * Stores requests of the step under way. A request of a call that has a live one already is not
   * stored twice: the stored one is returned, in the order of what was given.
   * @throws {StateStoreError} `conflict` when another request has the id; `not-storable`
   */
  addRequests(
    write: RunWrite & { readonly requests: readonly SessionRequest[] },
  ): Promise<readonly SessionRequest[]>
  /** `undefined` for an unknown request, and for one of another session. */
  getRequest(sessionId: string, requestId: string): Promise<SessionRequest | undefined>
  /** Oldest first. A damaged request does not hide the others. */
  listRequests(query: RequestQuery): Promise<RequestPage>
  /** The live requests of one asking session, in the order they were made. */
  loadRequests(askingSessionId: string): Promise<readonly SessionRequest[]>
  /**
   * Stores the first answer. A request that has one is returned as it stands; one that is expired at
   * `resolution.at` gets the resolution `expired` instead of an answer.
   * @returns the request, and whether this answer is the one that counts
   * @throws {StateStoreError} `not-found`, also for a request of another session; `not-storable`
   */
  resolveRequest(
    sessionId: string,
    requestId: string,
    resolution: RequestResolution,
  ): Promise<{ readonly request: SessionRequest; readonly isFirst: boolean }>
  /**
   * Whether an approval of this subject was given for the rest of the session that lists the request.
   * One whose arguments were edited is not remembered.
   */
  isRemembered(sessionId: string, subject: string): Promise<boolean>
  /**
   * Marks a live approved request of the session as started, before its call runs.
   * @returns whether this call of the method started it
   */
  startRequest(write: RunWrite & { readonly requestId: string }): Promise<boolean>
  /**
   * Replaces a live request whose basis changed and whose call was not started: the old one is
   * `cancelled`, unless it has an answer, and names the new one, which is open.
   * @throws {StateStoreError} `conflict` when the old one is not live or was started, or another
   * request has the new id
   */
  replaceRequest(
    write: RunWrite & { readonly requestId: string; readonly request: SessionRequest },
  ): Promise<void>

  /**
   * Stores a message. The same `messageId` of the session again changes nothing, also when it was
   * delivered or removed.
   */
  queueMessage(message: QueuedMessage): Promise<void>
  /** Oldest first. */
  listQueuedMessages(
    sessionId: string,
    delivery?: MessageDelivery,
  ): Promise<readonly QueuedMessage[]>
  /**
   * Moves queued messages to the end of the conversation, in the order given, in one transaction. One
   * that was removed or delivered before is left out. Clears the outcome of the last step, as
   * `appendMessages` does.
   * @returns the messages that were moved
   */
  deliverMessages(
    write: RunWrite & { readonly messageIds: readonly string[] },
  ): Promise<readonly QueuedMessage[]>
  /** Removes a message that was not delivered. @returns whether it was there */
  removeQueuedMessage(sessionId: string, messageId: string): Promise<boolean>

  /**
   * Stores a stop for the run that holds the session; `abort` replaces `interrupt`, not the reverse. It
   * is no change of the session: the version stays.
   */
  requestStop(sessionId: string, stop: StopRequest): Promise<void>
  /** What a run polls: cheap, no messages. A stop is cleared when a run begins or ends. */
  loadSignals(sessionId: string): Promise<SessionSignals>
}
