import type { IncomingMessage, ServerResponse } from 'node:http'

/** What the engine answers to one request. */
export interface Answer {
  readonly status: number
  readonly body?: unknown
}

/** An answer that is not a success; the message is what other tools of the engine print. */
export function failure(status: number, message: string): Answer {
  return { status, body: { message } }
}

export const DONE: Answer = { status: 204 }

/** Writes an answer. */
export function writeAnswer(response: ServerResponse, { status, body }: Answer): void {
  if (body === undefined) {
    response.writeHead(status).end()
    return
  }
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  response.writeHead(status, {
    'content-type': typeof body === 'string' ? 'text/plain' : 'application/json',
    'content-length': Buffer.byteLength(text),
  })
  response.end(text)
}

/** Reads a JSON body; undefined for an empty one. */
export async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(Buffer.from(chunk))
  const text = Buffer.concat(chunks).toString('utf8')
  return text === '' ? undefined : JSON.parse(text)
}
