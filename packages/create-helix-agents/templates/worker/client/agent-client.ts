import type { SequencedChunk } from '@helix-agents/core/runtime'
import { EventSourceParserStream } from 'eventsource-parser/stream'

export interface AgentClientOptions {
  readonly request: (path: string, init: RequestInit) => Promise<Response>
  readonly token: string
  /** Its own conversation with its own files. */
  readonly session: string
}

/** A conversation with the agent, over HTTP. */
export class AgentClient {
  readonly #options: AgentClientOptions

  constructor(options: AgentClientOptions) {
    this.#options = options
  }

  /** One turn: what the agent says and does, while it does it. */
  async *say(message: string): AsyncGenerator<string> {
    const body = JSON.stringify({ message })
    const first = await this.#send('/message', { method: 'POST', body })
    if (first.status === 404) await accepted(await this.#send('/start', { method: 'POST', body }))
    else await accepted(first)
    const { body: events } = await accepted(await this.#send('/stream', {}))
    if (events === null) return
    const parsed = events
      .pipeThrough(new TextDecoderStream())
      .pipeThrough(new EventSourceParserStream())
    for await (const { event, data } of parsed) {
      if (event === 'end') return
      yield textOf(JSON.parse(data) as SequencedChunk)
    }
  }

  #send(path: string, init: RequestInit): Promise<Response> {
    const { request, token, session } = this.#options
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    return request(`/agents/assistant/${session}${path}`, { ...init, headers })
  }
}

async function accepted(response: Response): Promise<Response> {
  if (response.ok) return response
  throw new Error(`the Worker answers ${response.status}: ${await response.text()}`)
}

function textOf(chunk: SequencedChunk): string {
  if (chunk.type === 'text_delta') return chunk.delta
  if (chunk.type === 'tool_start') return `· ${chunk.toolName.replace(/^workspace__/, '')}\n`
  if (chunk.type === 'error') return `\nfailed: ${chunk.message}\n`
  return chunk.type === 'output' ? '\n' : ''
}
