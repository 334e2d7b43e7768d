import type { SequencedChunk, WorkspaceDescription } from '@helix-agents/core/runtime'
import { EventSourceParserStream } from 'eventsource-parser/stream'
import { startLocalSandboxes } from './local-sandboxes.ts'
import { type LocalWorker, startLocalWorker } from './local-worker.ts'
import { task } from './agent.ts'
import { environmentFile } from './model-environment.ts'
import { Narrator } from './narrator.ts'
import { type Report, SHOWN_ROUNDS, type Stage } from './stage.ts'
import { lastWords } from './story.ts'

const session = '/agents/maintainer/months'

/**
 * Plays one part of the story with a workerd that hosts the agent, and talks to it over HTTP. In
 * the first part that workerd is killed; in the second the session resumes by itself.
 */
export async function runHostedStage(stage: Stage, tell: (report: Report) => void): Promise<void> {
  const lines: string[] = []
  // What has started workerd ends it, however it ends itself.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => process.exit(1))
  }
  const worker = await startWorker(stage, (line) => lines.push(line))
  try {
    await new HostedPlay(stage, worker, tell).run()
    if (stage.part === 'first') await worker.exit
  } catch (error) {
    console.error(lines.join('\n'))
    throw error
  } finally {
    await worker.stop()
  }
}

function startWorker(
  { kind, folder, part }: Stage,
  onLine: (line: string) => void,
): Promise<LocalWorker> {
  if (kind === 'cloudflare-sandbox') return startLocalSandboxes({ part, folder, onLine })
  const envFile = environmentFile(folder)
  return startLocalWorker({
    entry: 'worker.ts',
    folder,
    port: 0,
    vars: { PART: part },
    envFile,
    onLine,
  })
}

class HostedPlay {
  readonly #stage: Stage
  readonly #worker: LocalWorker
  readonly #tell: (report: Report) => void
  readonly #startedAt = performance.now()
  readonly #narrator = new Narrator(console.log)
  #workspaces: readonly WorkspaceDescription[] = []
  #lastSequence: number
  #calls = 0
  #rounds = 0

  constructor(stage: Stage, worker: LocalWorker, tell: (report: Report) => void) {
    this.#stage = stage
    this.#worker = worker
    this.#tell = tell
    this.#lastSequence = stage.fromSequence - 1
  }

  async run(): Promise<void> {
    const { part } = this.#stage
    const isFirst = part === 'first'
    if (isFirst) await this.#start(task)
    else console.log('\nthe object resumes by itself; the reader comes back with Last-Event-ID')
    const isComplete = await this.#follow()
    if (isComplete === isFirst) throw new Error(`the ${part} stream ended in another way`)
    if (!isFirst) this.#report('completed')
  }

  async #start(message: string): Promise<void> {
    const headers = { 'content-type': 'application/json' }
    const init = { method: 'POST', headers, body: JSON.stringify({ message }) }
    const response = await fetch(`${this.#worker.url}${session}/start`, init)
    if (!response.ok) throw new Error(`start: ${response.status} ${await response.text()}`)
  }

  /** Whether the stream came to its end; otherwise the connection did. */
  async #follow(): Promise<boolean> {
    const headers = { 'Last-Event-ID': String(this.#lastSequence) }
    const { ok, status, body } = await fetch(`${this.#worker.url}${session}/stream`, { headers })
    if (!ok || body === null) throw new Error(`no stream: ${status}`)
    const events = body
      .pipeThrough(new TextDecoderStream())
      .pipeThrough(new EventSourceParserStream())
    try {
      for await (const { event, data } of events) {
        if (event === 'end') return true
        await this.#show(JSON.parse(data) as SequencedChunk)
      }
    } catch (error) {
      // How `fetch` says that the other side is gone.
      if (!(error instanceof TypeError)) throw error
    }
    return false
  }

  async #show(chunk: SequencedChunk): Promise<void> {
    const missing = chunk.sequence - this.#lastSequence - 1
    if (missing !== 0) throw new Error(`${missing} chunks are missing`)
    this.#narrator.show(chunk)
    this.#lastSequence = chunk.sequence
    if (chunk.type === 'tool_end') await this.#look()
    if (chunk.type === 'tool_end') this.#calls++
    if (chunk.type === 'tool_progress' && chunk.text.includes('round')) this.#rounds++
    const isCutOff = chunk.type === 'text_delta' && chunk.delta === lastWords
    if (isCutOff || this.#isMidway()) this.#report('killable')
  }

  #isMidway(): boolean {
    const { part, killAfterCalls } = this.#stage
    return part === 'first' && (this.#rounds >= SHOWN_ROUNDS || this.#calls >= killAfterCalls)
  }

  /** The live workspaces; after the end of the run there are none. */
  async #look(): Promise<void> {
    const response = await fetch(`${this.#worker.url}${session}/healthz`)
    if (!response.ok) return
    const { workspaces } = (await response.json()) as { workspaces: WorkspaceDescription[] }
    this.#workspaces = workspaces
  }

  #report(status: Report['status']): void {
    this.#narrator.flush()
    const { tally } = this.#narrator
    const { pid } = this.#worker
    const wallMs = Math.round(performance.now() - this.#startedAt)
    const [workspaces, lastSequence] = [this.#workspaces, this.#lastSequence]
    this.#tell({ pid, status, tally, wallMs, workspaces, lastSequence })
  }
}
