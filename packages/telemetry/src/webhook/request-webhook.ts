import { type Clock, systemClock } from '@helix-agents/core'
import { backoffMs, withDeadline } from '@helix-agents/core/provider'
import type { RequestPreview, SessionRequest } from '@helix-agents/core/runtime'
import { Webhook } from 'standardwebhooks'

const DEFAULT_TIMEOUT_MS = 10_000
const DEFAULT_RETRIES = 3
/** Answers after which a later attempt may succeed. */
const PASSING_STATUS: readonly number[] = [408, 425, 429]

/** Options of `createRequestWebhook`. */
export interface RequestWebhookOptions {
  /** Gets a `POST` for each request. */
  readonly url: string
  /** Base64, with or without `whsec_`: the key that the receiver verifies with. */
  readonly secret: string
  /** Further headers, such as `authorization`. Default: none. */
  readonly headers?: Readonly<Record<string, string>>
  /** Retries of a notification, with growing pauses. Default: 3. */
  readonly retries?: number
  /** Longest wait for one answer, in milliseconds. Default: 10 000. */
  readonly timeoutMs?: number
  /** Default: that of the platform. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>
  /** Default: the time of the machine. */
  readonly clock?: Clock
}

/** What the receiver gets as JSON. Arguments are left out: they may hold secrets. */
export interface RequestWebhookPayload {
  readonly type: 'request.created'
  /** When the request was made: ISO 8601, UTC. */
  readonly timestamp: string
  readonly data: Pick<
    SessionRequest,
    'requestId' | 'sessionId' | 'agentPath' | 'kind' | 'toolCallId' | 'toolName' | 'expiresAt'
  > & { readonly preview: Omit<RequestPreview, 'basis'> }
}

/**
 * Notifies an address of each call that waits for a person: for `onRequest` of an executor. Signed as
 * Standard Webhooks say; `webhook-id` is the id of the request, the same in each attempt, so that a
 * receiver can drop a second one. No answer, a server error, 408, 425 and 429 are tried again; every
 * other answer than 2xx is a failure, a redirect too. Its errors name neither the address nor the key.
 * @throws {RangeError} for an address that is not http or https, or a key that cannot be used
 */
export function createRequestWebhook(
  options: RequestWebhookOptions,
): (request: SessionRequest) => Promise<void> {
  const { clock = systemClock, retries = DEFAULT_RETRIES } = options
  const target = new WebhookTarget(options)
  return async (request) => {
    const body = JSON.stringify(toPayload(request))
    for (let attempt = 0; ; attempt += 1) {
      const failure = await target.post(request.requestId, body)
      if (failure === undefined) return
      if (!failure.mayPass || attempt >= retries) throw new Error(failure.detail)
      await clock.sleep(backoffMs(attempt, Math.random))
    }
  }
}

interface WebhookFailure {
  readonly detail: string
  /** A later attempt may succeed. */
  readonly mayPass: boolean
}

class WebhookTarget {
  readonly #options: RequestWebhookOptions
  readonly #webhook: Webhook

  constructor(options: RequestWebhookOptions) {
    this.#options = options
    if (!isUsable(options.url)) throw new RangeError('the address of the webhook cannot be used')
    this.#webhook = openKey(options.secret)
  }

  /** One attempt; resolves to why it failed. */
  async post(id: string, body: string): Promise<WebhookFailure | undefined> {
    const { clock = systemClock, timeoutMs = DEFAULT_TIMEOUT_MS } = this.#options
    const overrun = new AbortController()
    const onTimeout = (): DOMException => {
      const error = new DOMException('the webhook did not answer in time', 'TimeoutError')
      overrun.abort(error)
      return error
    }
    try {
      const answer = this.#send({ id, body, signal: overrun.signal })
      const response = await withDeadline(answer, { clock, timeoutMs, onTimeout })
      // The status is the answer: a body that does not end, or fails, changes nothing.
      response.body?.cancel().catch(() => {})
      if (response.ok) return undefined
      const detail = `the webhook answered with ${response.status}`
      return { detail, mayPass: response.status >= 500 || PASSING_STATUS.includes(response.status) }
    } catch (error) {
      // What the platform says may name the address.
      const name = error instanceof Error ? error.name : 'unknown error'
      return { detail: `the webhook could not be reached (${name})`, mayPass: true }
    }
  }

  /** Signs each attempt anew: receivers reject an old time. */
  async #send(message: {
    readonly id: string
    readonly body: string
    readonly signal: AbortSignal
  }): Promise<Response> {
    const { clock = systemClock, headers = {}, url } = this.#options
    const { id, body, signal } = message
    const send = this.#options.fetch ?? ((to: string, init: RequestInit) => fetch(to, init))
    const sentAt = new Date(clock.now())
    return send(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...headers,
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(sentAt.getTime() / 1000)),
        'webhook-signature': this.#webhook.sign(id, sentAt, body),
      },
      body,
      redirect: 'manual',
      signal,
    })
  }
}

function isUsable(url: string): boolean {
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)
}

/** The library says what is wrong with a key in several ways, none of which is an error of its own. */
function openKey(secret: string): Webhook {
  try {
    return new Webhook(secret)
  } catch (cause) {
    throw new RangeError('the key of the webhook must be base64, with or without whsec_', { cause })
  }
}

function toPayload(request: SessionRequest): RequestWebhookPayload {
  const { requestId, sessionId, agentPath, kind, toolCallId, toolName, expiresAt } = request
  const { basis: _, ...preview } = request.preview
  return {
    type: 'request.created',
    timestamp: new Date(request.createdAt).toISOString(),
    data: {
      requestId,
      sessionId,
      agentPath,
      kind,
      toolCallId,
      toolName,
      preview,
      ...(expiresAt !== undefined && { expiresAt }),
    },
  }
}
