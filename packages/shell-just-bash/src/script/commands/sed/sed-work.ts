import type { ScriptLimits } from '../../script.ts'
import { SedError } from './sed-program.ts'

/** Work after which timers run, so that time and an abort end a script where it shares the thread. */
const WORK_OF_A_TURN = 512 * 1024
/** A round of a loop may search so many characters; commands cost some too. */
const CHARACTERS_OF_A_ROUND = 2048
const WORK_OF_A_COMMAND = 16

/** Counts what a script of sed does and holds, and ends it at its limits. */
export class SedWork {
  readonly maxBytes: number
  readonly #maxWork: number
  readonly #signal: AbortSignal | undefined
  #work = 0
  #turnAt = WORK_OF_A_TURN

  constructor(
    limits: Pick<ScriptLimits, 'maxLoopIterations' | 'maxStringBytes'>,
    signal: AbortSignal | undefined,
  ) {
    this.maxBytes = limits.maxStringBytes
    this.#maxWork = limits.maxLoopIterations * CHARACTERS_OF_A_ROUND
    this.#signal = signal
  }

  /** A command is run. */
  command(): void {
    this.search(WORK_OF_A_COMMAND)
  }

  /** So many characters are searched or copied. */
  search(characters: number): void {
    this.#work += characters
    if (this.#work > this.#maxWork) throw new SedError('ended: too much work for one command')
  }

  /** Before a text of this length is made. */
  grow(length: number, what: string): void {
    if (length <= this.maxBytes) return
    throw new SedError(`ended: ${what} of more than ${this.maxBytes} bytes`)
  }

  get needsTurn(): boolean {
    return this.#work >= this.#turnAt
  }

  async turn(): Promise<void> {
    this.#turnAt = this.#work + WORK_OF_A_TURN
    await new Promise((resolve) => setTimeout(resolve))
    if (this.#signal?.aborted === true) throw new SedError('ended')
  }
}
