import type { Clock } from '@helix-agents/core'
import { withDeadline } from '@helix-agents/core/provider'
import { RequestError } from './http-error.ts'

const JSON_TYPE = /^application\/json\s*(?:;|$)/i

export interface BodyReaderLimits {
  readonly maxBytes: number
  /** From the first look at a body to its end. */
  readonly timeoutMs: number
  /** Bodies that are being read at a time. */
  readonly maxUnread: number
}

/** Reads the bodies of requests, which hold memory for as long as they are on their way. */
export class BodyReader {
  readonly #limits: BodyReaderLimits
  readonly #clock: Clock
  #unread = 0

  constructor(limits: BodyReaderLimits, clock: Clock) {
    this.#limits = limits
    this.#clock = clock
  }

  /**
   * The text of a body; an empty one is empty.
   * @throws {RequestError} 408 for one that does not end in time, 413 for one that is too large,
   * 415 for one that is not sent as JSON, 429 when too many are being read.
   */
  async read({ headers, body }: Request): Promise<string> {
    const type = headers.get('content-type')
    if (body === null) return ''
    if (type !== null && !JSON_TYPE.test(type)) throw notJson()
    const text = await this.#readText(body)
    // Without a type it is none that a page of another site cannot send.
    if (text !== '' && type === null) throw notJson()
    return text
  }

  async #readText(body: ReadableStream<Uint8Array>): Promise<string> {
    const { maxBytes, timeoutMs, maxUnread } = this.#limits
    if (this.#unread >= maxUnread) {
      throw new RequestError(429, 'too-many-requests', `${maxUnread} bodies are being read`)
    }
    this.#unread++
    const reader = body.getReader()
    const onTimeout = (): Error => tooSlow(timeoutMs)
    try {
      const deadline = { clock: this.#clock, timeoutMs, onTimeout }
      return await withDeadline(readAll(reader, maxBytes), deadline)
    } catch (error) {
      // A client that does not end its body is not waited for.
      void Promise.allSettled([reader.cancel()])
      throw error
    } finally {
      this.#unread--
    }
  }
}

async function readAll(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  maxBytes: number,
): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return Buffer.concat(chunks).toString('utf8')
    bytes += value.length
    if (bytes > maxBytes) throw tooLarge(maxBytes)
    chunks.push(value)
  }
}

function notJson(): RequestError {
  const message = 'the body must be sent with content-type: application/json'
  return new RequestError(415, 'unsupported-media-type', message)
}

function tooSlow(timeoutMs: number): RequestError {
  return new RequestError(408, 'body-timeout', `the body did not end within ${timeoutMs} ms`)
}

function tooLarge(maxBytes: number): RequestError {
  return new RequestError(413, 'too-large', `the body is larger than ${maxBytes} bytes`)
}
