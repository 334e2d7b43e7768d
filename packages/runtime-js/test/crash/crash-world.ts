// Plays a session over processes that die, and says what it looks like afterwards.
import { type LLMAdapter, type Message, MockLLMAdapter } from '@helix-agents/core'
import type {
  SequencedChunk,
  SessionState,
  SessionStateStore,
  StreamManager,
} from '@helix-agents/core/runtime'
import { ManualClock } from '@helix-agents/core/testing'
import { JSAgentExecutor } from '@helix-agents/runtime-js'
import { InMemoryStateStore, InMemoryStreamManager } from '@helix-agents/store-memory'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { settle } from '../harness.ts'
import { answer, createAgents, type Effects } from './crash-agents.ts'
import { type DoomedProcess, failingStore, failingStreams } from './failing-store.ts'

const SESSION = 's'
const LEASE_MS = 60_000

export interface Aftermath {
  readonly session: SessionState
  readonly messages: readonly Message[]
  readonly child: SessionState | null
  readonly childMessages: readonly Message[]
  readonly effects: Effects
  /** What a reader got that was cut off by each death, and went on where it had stopped. */
  readonly followed: readonly SequencedChunk[]
  /** What a reader gets afterwards. */
  readonly replayed: readonly SequencedChunk[]
  readonly runs: number
  /** Model calls of the last process that had a run; 0 when the one before had decided the end. */
  readonly askedInLastRun: number
  readonly isLeftRunning: boolean
}

/** Plays the session over processes that die one after the other, and a last one that lives. */
export async function playThrough(doomed: readonly DoomedProcess[]): Promise<Aftermath> {
  const store = new InMemoryStateStore()
  const streams = new InMemoryStreamManager()
  const world = new World(store, streams)
  for (const process of doomed) await world.play(process)
  await world.play(undefined)
  return world.aftermath()
}

class World {
  readonly #store: SessionStateStore
  readonly #streams: StreamManager
  readonly #effects: Effects = new Map()
  readonly #agents = createAgents(this.#effects)
  readonly #provider = new InMemoryWorkspaceProvider()
  readonly #followed: SequencedChunk[] = []
  #now = 1_000_000
  #asked = 0

  constructor(store: SessionStateStore, streams: StreamManager) {
    this.#store = store
    this.#streams = streams
  }

  /** One process: it goes on with what it finds, to its end or to its death. */
  async play(doomed: DoomedProcess | undefined): Promise<void> {
    // Each process has a clock of its own: that of a dead one stands still.
    this.#now += 2 * LEASE_MS
    const runsBefore = await this.#countRuns()
    const isNeeded = (await this.#store.loadSession(SESSION))?.status !== 'completed'
    const model = new MockLLMAdapter(Array.from({ length: 30 }, () => answer))
    const executor = this.#createExecutor(doomed, model)
    const stop = new AbortController()
    const done = isNeeded ? this.#start(executor) : Promise.resolve()
    const over = done.catch(() => undefined)
    await (doomed === undefined ? over : Promise.race([over, settle()]))
    await settle()
    await this.#follow(stop)
    if ((await this.#countRuns()) > runsBefore) this.#asked = model.callCount
  }

  async #countRuns(): Promise<number> {
    const session = await this.#store.loadSession(SESSION)
    return session === null ? 0 : (await this.#store.listRuns(SESSION)).length
  }

  async aftermath(): Promise<Aftermath> {
    this.#now += 2 * LEASE_MS
    const executor = this.#createExecutor(undefined, new MockLLMAdapter([]))
    const handle = await executor.getHandle(this.#agents.agent, SESSION)
    const replayed: SequencedChunk[] = []
    for await (const chunk of handle!.stream()) replayed.push(chunk)
    const childId = `${SESSION}/s2-0`
    const child = await this.#store.loadSession(childId)
    const session = (await this.#store.loadSession(SESSION))!
    return {
      session,
      messages: (await this.#store.loadMessages(SESSION)).messages,
      child,
      childMessages: child === null ? [] : (await this.#store.loadMessages(childId)).messages,
      effects: this.#effects,
      followed: this.#followed,
      replayed,
      askedInLastRun: this.#asked,
      runs: (await this.#store.listRuns(SESSION)).length,
      isLeftRunning: session.outcome !== undefined,
    }
  }

  #createExecutor(doomed: DoomedProcess | undefined, model: LLMAdapter): JSAgentExecutor {
    const store = doomed === undefined ? this.#store : failingStore(this.#store, doomed)
    const streams = doomed === undefined ? this.#streams : failingStreams(this.#streams, doomed)
    return new JSAgentExecutor(store, streams, model, {
      clock: new ManualClock(this.#now),
      leaseMs: LEASE_MS,
      workspaceProviders: [this.#provider],
    })
  }

  async #start(executor: JSAgentExecutor): Promise<void> {
    const { agent } = this.#agents
    const { canResume } = await executor.canResume(agent, SESSION)
    const handle = canResume
      ? await executor.resume(agent, SESSION)
      : await executor.execute(agent, 'Go', { sessionId: SESSION, keepWorkspaces: false })
    await handle.result()
  }

  /** Reads on where the last reader was cut off. */
  async #follow(stop: AbortController): Promise<void> {
    const last = this.#followed.at(-1)?.sequence
    const from = last === undefined ? {} : { fromSequence: last + 1 }
    const chunks = await this.#streams.read(SESSION, { ...from, signal: stop.signal })
    const cut = settle().then(() => stop.abort())
    for await (const chunk of chunks ?? []) this.#followed.push(chunk)
    await cut
  }
}
