// A session, the processes that run it one after the other, and the people who answer.
import type { Message } from '@helix-agents/core'
import type { SessionRequest } from '@helix-agents/core/runtime'
import { ManualClock } from '@helix-agents/core/testing'
import { JSAgentExecutor } from '@helix-agents/runtime-js'
import { InMemoryStateStore, InMemoryStreamManager } from '@helix-agents/store-memory'
import {
  type Death,
  DoomedProcess,
  failingStore,
  failingStreams,
} from '../../crash/failing-store.ts'
import { createAgents, type Effects, modelOf, type Plan } from './agents.ts'

/** What happens to the session from outside. */
export type Action =
  | {
      readonly type: 'answer'
      readonly which: number
      readonly how: 'approve' | 'deny' | 'edit' | 'remember'
    }
  | { readonly type: 'send'; readonly delivery: 'steer' | 'followUp'; readonly isRepeated: boolean }
  | { readonly type: 'wait'; readonly ms: number }
  | { readonly type: 'interrupt' }
  | {
      readonly type: 'restart'
      readonly isLater: boolean
      readonly at: number
      readonly death: Death
    }

const LEASE_MS = 2000
const SESSION = 's'

export interface Sent {
  readonly delivery: 'steer' | 'followUp'
  readonly text: string
}

export class World {
  readonly effects: Effects = new Map()
  readonly sent: Sent[] = []
  readonly store = new InMemoryStateStore()
  readonly #streams = new InMemoryStreamManager()
  readonly #clock = new ManualClock(0)
  readonly #plan: Plan
  #process: ReturnType<World['begin']>

  constructor(
    plan: Plan,
    first: { readonly isLater: boolean; readonly at: number; readonly death: Death },
  ) {
    this.#plan = plan
    this.#process = this.begin(first)
  }

  /** Starts, does what the schedule says, and then lets the session come to its end. */
  async play(actions: readonly Action[]): Promise<void> {
    const { executor, agent } = this.#process
    await this.#try(() => executor.execute(agent, 'Go', { sessionId: SESSION }))
    for (const action of actions) await this.#act(action)
    await this.#finish()
  }

  async messagesOf(sessionId: string): Promise<readonly Message[]> {
    return (await this.store.loadMessages(sessionId)).messages
  }

  async requests(): Promise<readonly SessionRequest[]> {
    return (await this.store.listRequests({ now: this.#clock.now(), limit: 200 })).items
  }

  begin({
    isLater,
    at,
    death,
  }: {
    readonly isLater: boolean
    readonly at: number
    readonly death: Death
  }) {
    const doomed = new DoomedProcess(at, death)
    const { effects } = this
    const executor = new JSAgentExecutor(
      failingStore(this.store, doomed),
      failingStreams(this.#streams, doomed),
      modelOf(this.#plan),
      { clock: this.#clock, leaseMs: LEASE_MS },
    )
    const agent = createAgents({ effects, isLater, isAlive: () => !doomed.isDead })
    return { executor, agent, doomed }
  }

  async #act(action: Action): Promise<void> {
    switch (action.type) {
      case 'answer':
        return this.#answer(action)
      case 'send':
        return this.#send(action)
      case 'wait':
        return this.#wait(action.ms)
      case 'interrupt': {
        const { executor, agent } = this.#process
        await this.#try(async () => (await executor.getHandle(agent, SESSION))?.interrupt())
        return this.#wait(500)
      }
      default:
        this.#process = this.begin(action)
        await this.#wait(LEASE_MS)
        return this.#recover()
    }
  }

  async #answer({ which, how }: Extract<Action, { type: 'answer' }>): Promise<void> {
    const open = (await this.requests()).filter(({ resolution }) => resolution === undefined)
    const request = open[which % Math.max(1, open.length)]
    if (request === undefined) return
    const { executor, agent } = this.#process
    const { n } = JSON.parse(request.arguments) as { n: number }
    const answer = {
      approve: { decision: 'approve' },
      deny: { decision: 'deny' },
      edit: { decision: 'approve', input: { n: n + 1000 } },
      remember: { decision: 'approve', remember: 'session' },
    } as const
    await this.#try(() => executor.respond(agent, SESSION, request.requestId, answer[how]))
  }

  async #send({ delivery, isRepeated }: Extract<Action, { type: 'send' }>): Promise<void> {
    const text = `message ${this.sent.length}`
    const options = { delivery, messageId: text }
    for (let time = 0; time < (isRepeated ? 2 : 1); time++) {
      const { executor, agent } = this.#process
      await this.#try(() => executor.send(agent, SESSION, text, options))
    }
    // Who dies while sending does not know whether it arrived: it sends again.
    const living = this.begin({ isLater: false, at: Infinity, death: 'before-it-arrives' })
    if ((await this.store.loadSession(SESSION)) === null) return
    this.sent.push({ delivery, text })
    await this.#try(() => living.executor.send(living.agent, SESSION, text, options))
  }

  async #wait(ms: number): Promise<void> {
    await this.#clock.advance(ms)
    await this.#quiet()
  }

  async #recover(): Promise<void> {
    const { executor, agent } = this.#process
    await this.#try(() => executor.recover(agent, SESSION))
  }

  async #try(work: () => Promise<unknown>): Promise<void> {
    const { doomed } = this.#process
    const state = { isOver: false }
    const end = (): void => {
      state.isOver = true
    }
    work().then(end, end)
    for (let turn = 0; !state.isOver && !doomed.isDead && turn < 5000; turn++) await nextTurn()
    await this.#quiet()
  }

  /** Until every run has ended or its process is dead. */
  async #quiet(): Promise<void> {
    let calm = 0
    for (let turn = 0; calm < 4 && turn < 5000; turn++) {
      await nextTurn()
      const session = await this.store.loadSession(SESSION)
      const isRunning = session?.status === 'running' && !this.#process.doomed.isDead
      calm = isRunning ? 0 : calm + 1
    }
  }

  /** People answer what is open, and processes that live resume what is left. */
  async #finish(): Promise<void> {
    this.#process = this.begin({ isLater: true, at: Infinity, death: 'before-it-arrives' })
    const { executor, agent } = this.#process
    if ((await this.store.loadSession(SESSION)) === null) {
      await this.#try(() => executor.execute(agent, 'Go', { sessionId: SESSION }))
    }
    for (let round = 0; round < 60; round++) {
      const status = (await this.store.loadSession(SESSION))?.status
      const { steering, followUps } = await this.store.loadSignals(SESSION)
      if (status === 'completed' && steering + followUps === 0) return
      await this.#wait(LEASE_MS)
      await this.#recover()
      await this.#answer({
        type: 'answer',
        which: round,
        how: round % 3 === 0 ? 'deny' : 'approve',
      })
      const now = (await this.store.loadSession(SESSION))?.status
      if (now !== 'completed' && now !== 'waiting') {
        const { messages } = await this.store.loadMessages(SESSION)
        const isEmpty = messages.length === 0
        await this.#try(() =>
          isEmpty
            ? executor.execute(agent, 'Go', { sessionId: SESSION })
            : executor.resume(agent, SESSION),
        )
      }
    }
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
