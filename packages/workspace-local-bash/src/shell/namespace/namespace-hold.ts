import { setImmediate as nextTurn } from 'node:timers/promises'
import { systemClock } from '@helix-agents/core'
import { askAllToEnd, sendSignal } from '../processes/freeze.ts'
import type { ProcessHold } from '../processes/process-hold.ts'
import { childrenOf } from '../processes/process-table.ts'

const POLL_MS = 2
const PROBES_PER_TURN = 100
/** The rest is not asked to end: it is killed. */
const MAX_DESCENDANTS = 2000
/** How long a namespace may take to be set up, once its time is over. */
const SETUP_MS = 2000
/** How long the kernel may take to end it. */
const KILL_MS = 1000

/**
 * The processes of a command that has a namespace of its own. When its first process ends, the
 * kernel kills all others, whatever they did, and `ended` settles after the last one is gone.
 */
export class NamespaceHold implements ProcessHold {
  readonly #leader: number
  readonly #ended: Promise<unknown>
  #hasEnded = false
  /** What the leader was starting when it was killed may not have asked to die with it yet. */
  #isUncertain = false

  /**
   * @param leader The process that set the namespace up: parent of the first process inside.
   * @param ended Settles when the leader has ended.
   */
  constructor(leader: number, ended: Promise<unknown>) {
    this.#leader = leader
    this.#ended = ended.then(this.#markEnded, this.#markEnded)
  }

  /** Whether it is certain that none of them runs any more. */
  get isEmpty(): boolean {
    return this.#hasEnded && !this.#isUncertain
  }

  async end(graceMs: number): Promise<void> {
    const first = await this.#findFirst()
    if (first === undefined) return this.#killLeader()
    if (graceMs > 0) {
      await askAllToEnd(async () => (this.#hasEnded ? [] : await descendantsOf(first)))
      await this.#waitForEnd(graceMs)
    }
    await this.#kill(first)
    // Whoever set it up waits for the first process; it is not needed to end the others.
    await this.#killLeader()
  }

  /** Nothing is ever left: the command's end was the end of its namespace. */
  async endLeftovers(): Promise<void> {
    await this.#ended
  }

  readonly #markEnded = (): void => {
    this.#hasEnded = true
  }

  /** The first process inside, which an early end has to wait for. */
  async #findFirst(): Promise<number | undefined> {
    const untilMs = performance.now() + SETUP_MS
    while (!this.#hasEnded && performance.now() < untilMs) {
      const [first] = childrenOf(this.#leader)
      if (first !== undefined) return first
      await this.#waitForEnd(POLL_MS)
    }
    return undefined
  }

  async #killLeader(): Promise<void> {
    if (this.#hasEnded) return
    this.#isUncertain = true
    await this.#kill(this.#leader)
  }

  async #kill(pid: number): Promise<void> {
    if (this.#hasEnded) return
    sendSignal(pid, 'SIGKILL')
    await this.#waitForEnd(KILL_MS)
  }

  async #waitForEnd(timeMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const cancel = systemClock.setTimer(timeMs, resolve)
    await Promise.race([this.#ended, promise])
    cancel()
  }
}

/** Those below a process, parents before their children; of very many the first. */
async function descendantsOf(pid: number): Promise<readonly number[]> {
  const found = childrenOf(pid)
  for (let index = 0; index < Math.min(found.length, MAX_DESCENDANTS); index += 1) {
    if (index % PROBES_PER_TURN === PROBES_PER_TURN - 1) await nextTurn()
    found.push(...childrenOf(found[index] ?? 0))
  }
  return found.slice(0, MAX_DESCENDANTS)
}
