import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Agent,
  AgentAlreadyRunningError,
  type LLMAdapter,
  MockLLMAdapter,
} from '@helix-agents/core'
import type {
  SequencedChunk,
  SessionRequest,
  WorkspaceDescription,
} from '@helix-agents/core/runtime'
import { type AgentHandle, type AgentResult, JSAgentExecutor } from '@helix-agents/runtime-js'
import { openSqliteStores, type SqliteStores } from '@helix-agents/store-sqlite'
import { VercelAIAdapter } from '@helix-agents/llm-vercel'
import { modelFromEnvironment } from '@helix-agents/llm-vercel/environment'
import { createMaintainer, task } from './agent.ts'
import { askPerson } from './ask-person.ts'
import { readInstalledPackage } from './installed-package.ts'
import { Narrator, type Tally } from './narrator.ts'
import { type Kind, openPlace } from './providers.ts'
import { firstPart, lastWords, type Part, secondPart } from './story.ts'

/** What a process says to the one that started it. */
export interface Report {
  /** Of the process that carries the agent: to be killed when it says so. */
  readonly pid: number
  /** `killable`: the first process is in the middle of its work. */
  readonly status: 'killable' | 'completed'
  readonly tally: Tally
  readonly wallMs: number
  readonly workspaces: readonly WorkspaceDescription[]
  /** Number of the last chunk that was shown. */
  readonly lastSequence: number
}

export interface Stage {
  readonly part: Part
  readonly kind: Kind
  /** Kept between the two processes. */
  readonly folder: string
  /** The first chunk of the stream that was not read yet. */
  readonly fromSequence: number
  /** A real model does what it wants: its first process is killed after so many calls. */
  readonly killAfterCalls: number
}

const sessionId = 'months'
/** Short, so that the second process does not wait long for the claim of the first. */
const leaseMs = 2000
const POLL_MS = 100
/** Lines of the long command that are shown before the process is killed. */
export const SHOWN_ROUNDS = 3

/** Plays one part of the story in this process. Only the second comes back. */
export async function runStage(stage: Stage, tell: (report: Report) => void): Promise<void> {
  const model = await modelFromEnvironment(process.env)
  const stores = await openSqliteStores(join(stage.folder, 'sessions.db'))
  const play = new Play({ stage, stores, model, tell })
  await play.run()
  await stores.close()
}

interface PlayParts {
  readonly stage: Stage
  readonly stores: SqliteStores
  /** Absent: the scripted one. */
  readonly model: Awaited<ReturnType<typeof modelFromEnvironment>>
  readonly tell: (report: Report) => void
}

class Play {
  readonly #stage: Stage
  readonly #tell: (report: Report) => void
  readonly #executor: JSAgentExecutor
  readonly #agent: Agent
  readonly #begin: () => Promise<AgentHandle>
  readonly #startedAt = performance.now()
  readonly #narrator = new Narrator(console.log)
  #workspaces: readonly WorkspaceDescription[] = []
  #lastSequence = 0
  #rounds = 0
  #calls = 0

  constructor({ stage, stores, model, tell }: PlayParts) {
    this.#stage = stage
    this.#tell = tell
    const { stateStore, streamManager } = stores
    const { selection, hasProcesses, isDurable, providers } = openPlace(stage.kind, stage.folder)
    const readPackage = readInstalledPackage
    const name = model ?? 'scripted'
    const agent = createMaintainer({
      provider: selection,
      hasSnapshots: true,
      readPackage,
      model: name,
    })
    this.#agent = agent
    const isFirst = stage.part === 'first'
    const script = isFirst
      ? firstPart(hasProcesses, isDurable)
      : secondPart(hasProcesses, isDurable)
    const options = { workspaceProviders: providers, leaseMs }
    const adapter: LLMAdapter = model ? new VercelAIAdapter() : new MockLLMAdapter(script)
    this.#executor = new JSAgentExecutor(stateStore, streamManager, adapter, options)
    this.#begin = () =>
      isFirst
        ? this.#executor.execute(agent, task, { sessionId, keepWorkspaces: false })
        : whenFree(() => this.#executor.resume(agent, sessionId))
  }

  async run(): Promise<void> {
    let handle = await this.#begin()
    this.#lastSequence = this.#stage.fromSequence - 1
    for (;;) {
      const fromSequence = this.#lastSequence + 1
      for await (const chunk of handle.stream({ fromSequence })) this.#show(chunk)
      this.#narrator.flush()
      const result = await handle.result()
      if (result.status !== 'waiting') return this.#end(result)
      handle = await this.#answer(result.requests, handle)
    }
  }

  /** The session waits in the store. Who answers need not be this process. */
  async #answer(requests: readonly SessionRequest[], waiting: AgentHandle): Promise<AgentHandle> {
    let next = waiting
    for (const request of requests) {
      const response = await askPerson(request)
      const { handle } = await this.#executor.respond(
        this.#agent,
        sessionId,
        request.requestId,
        response,
      )
      next = handle ?? next
    }
    return next
  }

  #end({ status, error }: AgentResult): void {
    if (status === 'completed') return this.#report('completed')
    console.error(`the run is ${status}: ${error?.message}`)
    process.exitCode = 1
  }

  #show(chunk: SequencedChunk): void {
    this.#narrator.show(chunk)
    this.#lastSequence = chunk.sequence
    this.#workspaces =
      this.#executor.getWorkspaceRegistry(sessionId)?.describe() ?? this.#workspaces
    if (chunk.type === 'tool_progress' && chunk.text.includes('round')) this.#rounds++
    if (chunk.type === 'tool_end') this.#calls++
    const isCutOff = chunk.type === 'text_delta' && chunk.delta === lastWords
    if (isCutOff || this.#isMidway()) this.#report('killable')
  }

  #isMidway(): boolean {
    const { part, killAfterCalls } = this.#stage
    return part === 'first' && (this.#rounds === SHOWN_ROUNDS || this.#calls >= killAfterCalls)
  }

  #report(status: Report['status']): void {
    this.#narrator.flush()
    const { tally } = this.#narrator
    const wallMs = Math.round(performance.now() - this.#startedAt)
    const [workspaces, lastSequence] = [this.#workspaces, this.#lastSequence]
    this.#tell({ pid: process.pid, status, tally, wallMs, workspaces, lastSequence })
  }
}

/** A process that was killed could not give up its claim: it has to run out first. */
async function whenFree(resume: () => Promise<AgentHandle>): Promise<AgentHandle> {
  for (let waited = false; ; waited = true) {
    try {
      return await resume()
    } catch (error) {
      if (!AgentAlreadyRunningError.isInstance(error)) throw error
      if (!waited) console.log(`\nthe claim of the killed process runs out within ${leaseMs} ms …`)
      await sleep(POLL_MS)
    }
  }
}
