import { type IncomingMessage, request } from 'node:http'
import { once } from 'node:events'
import { readJson } from './http-answer.ts'

/** Calls a container engine over its socket. */
export interface DockerClient {
  /** @returns the JSON of the answer, undefined for an empty one or plain text. */
  call(method: string, path: string): Promise<unknown>
}

/** A client for the engine that listens on a unix socket. */
export function createDockerClient(socketPath: string): DockerClient {
  return {
    call: async (method, path) => {
      const sent = request({ socketPath, method, path, host: 'localhost' }).end()
      const answer = await answerTo(sent)
      const isJson = answer.headers['content-type']?.startsWith('application/json') === true
      if (!isJson) answer.resume()
      const body = isJson ? await readJson(answer) : undefined
      const status = answer.statusCode ?? 0
      if (status >= 400) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(body)}`)
      return body
    },
  }
}

async function answerTo(sent: NodeJS.EventEmitter): Promise<IncomingMessage> {
  const [answer]: IncomingMessage[] = await once(sent, 'response')
  if (answer === undefined) throw new TypeError('no answer')
  return answer
}
