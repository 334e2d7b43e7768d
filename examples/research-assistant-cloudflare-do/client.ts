import type { SequencedChunk } from '@helix-agents/core/runtime'
import { EventSourceParserStream } from 'eventsource-parser/stream'

interface Request {
  readonly method?: string
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** What a browser or another service would do, over HTTP. */
export class ResearchClient {
  readonly #base: string
  readonly #headers: Readonly<Record<string, string>>

  constructor(server: string, sessionId: string, token?: string) {
    this.#base = `${server}/agents/research-assistant/${sessionId}`
    this.#headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  }

  /** Sends a request; answers with whatever status. */
  fetch(path: string, { headers, ...init }: Request = {}): Promise<Response> {
    const type = init.body === undefined ? {} : { 'content-type': 'application/json' }
    const all = { ...type, ...this.#headers, ...headers }
    return fetch(this.#base + path, { ...init, headers: all })
  }

  async start(message: string): Promise<void> {
    await this.#ask('/start', { method: 'POST', body: JSON.stringify({ message }) })
  }

  async state(): Promise<{ readonly status: string; readonly output?: string }> {
    const response = await this.#ask('/state')
    return (await response.json()) as { status: string; output?: string }
  }

  /** How the live workspaces are. */
  async health(): Promise<readonly string[]> {
    const body = (await (await this.#ask('/healthz')).json()) as {
      workspaces: readonly { name: string; state: string; receipt?: { outcome: string } }[]
    }
    return body.workspaces.map(
      ({ name, state, receipt }) => `${name} ${state}, ${receipt?.outcome ?? 'not opened'}`,
    )
  }

  async notes(): Promise<readonly string[]> {
    return ((await (await this.#ask('/notes')).json()) as { notes: string[] }).notes
  }

  async note(path: string): Promise<string> {
    return (await this.#ask(`/notes?${new URLSearchParams({ path })}`)).text()
  }

  /**
   * The chunks after the last one seen. Returns whether the stream came to its end; otherwise the
   * connection did, and the reader connects again.
   */
  async *stream(lastSequence?: number): AsyncGenerator<SequencedChunk, boolean> {
    const headers = lastSequence === undefined ? {} : { 'Last-Event-ID': String(lastSequence) }
    const { status, body } = await this.#ask('/stream', { headers })
    if (status === 204 || body === null) return true
    const events = body
      .pipeThrough(new TextDecoderStream())
      .pipeThrough(new EventSourceParserStream())
    try {
      for await (const { event, data } of events) {
        if (event === 'end') return true
        yield JSON.parse(data) as SequencedChunk
      }
    } catch (error) {
      // How `fetch` says that the other side is gone.
      if (!(error instanceof TypeError)) throw error
    }
    return false
  }

  async #ask(path: string, init?: Request): Promise<Response> {
    const response = await this.fetch(path, init)
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    return response
  }
}
