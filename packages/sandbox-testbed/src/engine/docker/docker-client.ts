import { type IncomingMessage, request } from 'node:http'
import { once } from 'node:events'
import { readJson } from '../http-answer.ts'

/** An engine that answered with an error. */
export class EngineRefusal extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** Calls a container engine over its socket. */
export interface DockerClient {
  /**
   * @returns the JSON of the answer, undefined for an empty one or plain text.
   * @throws {EngineRefusal} with the status of an answer that is not a success.
   */
  call(method: string, path: string, body?: unknown): Promise<unknown>
}

/**
 * A client for the engine that listens on a unix socket.
 *
 * @param deadlineMs how long one answer may take; without it, as long as it takes.
 */
export function createDockerClient(socketPath: string, deadlineMs?: number): DockerClient {
  return {
    call: async (method, path, body) => {
      const signal = deadlineMs === undefined ? undefined : AbortSignal.timeout(deadlineMs)
      const options = { socketPath, method, path, host: 'localhost' }
      const sent = request({ ...options, ...(signal !== undefined && { signal }) })
      const answering = answerTo(sent)
      sent.setHeader('content-type', 'application/json')
      sent.end(body === undefined ? undefined : JSON.stringify(body))
      return readAnswer(await answering, `${method} ${path}`)
    },
  }
}

async function answerTo(sent: NodeJS.EventEmitter): Promise<IncomingMessage> {
  const [answer]: IncomingMessage[] = await once(sent, 'response')
  if (answer === undefined) throw new TypeError('no answer')
  return answer
}

async function readAnswer(answer: IncomingMessage, asked: string): Promise<unknown> {
  const isJson = answer.headers['content-type']?.startsWith('application/json') === true
  if (!isJson) answer.resume()
  const body = isJson ? await readJson(answer) : undefined
  const status = answer.statusCode ?? 0
  if (status >= 400) throw new EngineRefusal(status, `${asked}: ${status} ${JSON.stringify(body)}`)
  return body
}
