import {
  AgentAlreadyRunningError,
  AgentDefinitionError,
  HelixError,
  type Logger,
  SessionError,
  StateStoreError,
} from '@helix-agents/core'

/** A rejected request. Its code and message are sent to the client. */
export class RequestError extends Error {
  override readonly name = 'RequestError'
  /** The HTTP status. */
  readonly status: number
  readonly code: string
  /** Further fields of the answer's `error`. */
  readonly details: Readonly<Record<string, unknown>>
  readonly headers: Readonly<Record<string, string>>

  constructor(
    status: number,
    code: string,
    message: string,
    options: Partial<Pick<RequestError, 'details' | 'headers'>> = {},
  ) {
    super(message)
    this.status = status
    this.code = code
    this.details = options.details ?? {}
    this.headers = options.headers ?? {}
  }
}

const storeStatus: Readonly<Record<StateStoreError['code'], number>> = {
  'not-found': 404,
  'invalid-query': 400,
  conflict: 409,
  unavailable: 503,
  corrupt: 500,
  'schema-version': 500,
  'not-storable': 400,
}

/** An error as clients get it, over HTTP as `{ error }`. */
export interface WireError {
  readonly code: string
  readonly message: string
  /** Such as the `issues` of a request that is not valid. */
  readonly details?: Readonly<Record<string, unknown>>
}

/** What a client is told of an error: never more than it may know. */
export interface Refusal {
  readonly status: number
  readonly body: { readonly error: WireError }
  readonly headers?: Readonly<Record<string, string>>
}

/** Every error of a request ends here: a client gets JSON, the operator a line in the log. */
export function toRefusal(error: unknown, logger: Logger, fields: object): Refusal {
  if (error instanceof RequestError) {
    const { status, code, message, details, headers } = error
    const more = Object.keys(details).length === 0 ? {} : { details }
    return { status, body: { error: { code, message, ...more } }, headers }
  }
  const status = statusOf(error)
  if (status < 500 && HelixError.isInstance(error)) {
    return { status, body: { error: { code: error.code, message: error.message } } }
  }
  logger.error({ ...fields, err: error }, 'request failed')
  const code = HelixError.isInstance(error) ? error.code : 'internal'
  const message = 'the server failed; its log has the reason'
  return { status, body: { error: { code, message } } }
}

export function toErrorResponse({ status, body, headers = {} }: Refusal): Response {
  return Response.json(body, { status, headers })
}

function statusOf(error: unknown): number {
  if (AgentAlreadyRunningError.isInstance(error)) return 409
  if (StateStoreError.isInstance(error)) return storeStatus[error.code]
  // The client has sent a state that the agent does not accept.
  if (AgentDefinitionError.isInstance(error)) return 400
  if (!SessionError.isInstance(error)) return 500
  if (error.code === 'invalid-message' || error.code === 'invalid-answer') return 400
  // Sessions of other agents are none of the caller's business.
  return error.code === 'other-agent' || error.code === 'unknown-request' ? 404 : 409
}

export function notFound(what: string): RequestError {
  return new RequestError(404, 'not-found', `there is no such ${what}`)
}

/** A mistake in `wrangler.jsonc`, which whoever deploys sees at the first request. */
export function withoutSqlite(): RequestError {
  const message =
    'the class of the Durable Object has no SQLite: name it in new_sqlite_classes of the migrations' +
    ' in wrangler.jsonc. One that was deployed with new_classes stays without: give it a new name'
  return new RequestError(500, 'sqlite-missing', message)
}

/** The store takes nothing now. */
export function isUnavailable(error: unknown): boolean {
  return StateStoreError.isInstance(error) && error.code === 'unavailable'
}

/** What is stored cannot be read any more. */
export function isCorrupt(error: unknown): boolean {
  return StateStoreError.isInstance(error) && error.code === 'corrupt'
}
