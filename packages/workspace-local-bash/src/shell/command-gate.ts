import { availableParallelism } from 'node:os'
import { setImmediate as nextTurn } from 'node:timers/promises'

const PER_CORE = 8
const MIN_DEFAULT = 16

/** Commands that run at once by default. */
export const DEFAULT_CONCURRENT_COMMANDS = Math.max(MIN_DEFAULT, PER_CORE * availableParallelism())

/**
 * Lets a number of commands run at once, the others wait in order. To start a process holds the
 * event loop for a moment: between two starts other work gets a turn.
 */
export class CommandGate {
  readonly #limit: number
  readonly #waiting = new Set<() => void>()
  #running = 0
  #lastStart: Promise<unknown> = Promise.resolve()

  /** @param limit At least 1. */
  constructor(limit: number) {
    this.#limit = limit
  }

  /**
   * Runs a command when it is its turn.
   * @param signal Ends the waiting.
   * @throws the signal's reason.
   */
  async run<T>(command: () => Promise<T>, signal: AbortSignal): Promise<T> {
    await this.#enter(signal)
    try {
      await this.takeTurn()
      signal.throwIfAborted()
      return await command()
    } finally {
      this.#leave()
    }
  }

  /** Waits until the event loop has gone round once since the last start. */
  async takeTurn(): Promise<void> {
    const turn = this.#lastStart.then(() => nextTurn())
    this.#lastStart = turn
    await turn
  }

  async #enter(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    if (this.#running < this.#limit) {
      this.#running += 1
      return
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const onAbort = (): void => {
      this.#waiting.delete(resolve)
      reject(signal.reason)
    }
    this.#waiting.add(resolve)
    signal.addEventListener('abort', onAbort)
    try {
      await promise
    } finally {
      signal.removeEventListener('abort', onAbort)
    }
  }

  /** Hands the place to the command that waits longest. */
  #leave(): void {
    const [longest] = this.#waiting
    if (longest === undefined) {
      this.#running -= 1
      return
    }
    this.#waiting.delete(longest)
    longest()
  }
}
