import type { Message, UserMessage } from '../llm/messages.ts'
import { estimateTokens } from './estimate-tokens.ts'
import type { PrepareStep } from './prepare-step.ts'

/** Limits of `fitContext`, in tokens. */
export interface FitContextOptions {
  /** The conversation is shortened when it has more, without system prompt and tools. */
  readonly maxTokens: number
  /**
   * What is kept of it then. Less than `maxTokens`, so that the next steps only add to what the
   * provider has in its prompt cache. Default: half of `maxTokens`.
   */
  readonly keepTokens?: number
  /** About how many tokens a message has. Default: from its length. */
  readonly estimate?: (message: Message) => number
}

/** What stands where messages were left out. */
const LEFT_OUT: UserMessage = Object.freeze({
  role: 'user',
  content: '[Earlier messages were left out, since the conversation became too long.]',
})

/**
 * A `prepareStep` that leaves out the oldest steps of a long conversation. The first message, which
 * says what it is about, stays, and so does the last step. An answer is left out with all results
 * of its calls, or not at all.
 * @throws {RangeError} for numbers that are no limits.
 */
export function fitContext(options: FitContextOptions): PrepareStep {
  const { maxTokens, keepTokens = maxTokens / 2, estimate = estimateTokens } = options
  if (!(keepTokens > 0 && maxTokens >= keepTokens)) {
    throw new RangeError('maxTokens must be positive and not less than keepTokens')
  }
  const views = new WeakMap<readonly Message[], View>()
  const limits = { maxTokens, keepTokens, estimate }
  return ({ messages }) => {
    const known = views.get(messages)
    const view = known?.fits(messages) === true ? known : new View(limits)
    views.set(messages, view)
    return { messages: view.of(messages) }
  }
}

interface Limits {
  readonly maxTokens: number
  readonly keepTokens: number
  readonly estimate: (message: Message) => number
}

/** What is left of one conversation. It grows with it: no step inspects old messages again. */
class View {
  readonly #limits: Limits
  /** Tokens up to each message, itself included. */
  readonly #sums: number[] = []
  /** The first message that is kept; those before it are left out, but for the very first. */
  #start = 0
  #kept: Message[] = []
  #last: Message | undefined

  constructor(limits: Limits) {
    this.#limits = limits
  }

  fits(messages: readonly Message[]): boolean {
    const { length } = this.#sums
    return length === 0 || messages[length - 1] === this.#last
  }

  of(messages: readonly Message[]): readonly Message[] {
    const before = this.#sums.length
    for (const message of messages.slice(before)) {
      this.#sums.push((this.#sums.at(-1) ?? 0) + this.#limits.estimate(message))
      if (this.#start > 0) this.#kept.push(message)
    }
    this.#last = messages.at(-1)
    if (this.#tokensFrom(this.#start) > this.#limits.maxTokens) this.#shorten(messages)
    return this.#start === 0 ? messages : this.#kept
  }

  #shorten(messages: readonly Message[]): void {
    const start = this.#findStart(messages)
    const [first] = messages
    if (start <= this.#start || start <= 1 || first === undefined) return
    this.#start = start
    this.#kept = [first, LEFT_OUT, ...messages.slice(start)]
  }

  /** Where a step begins, so that what follows is short enough; the last one, if none is. */
  #findStart(messages: readonly Message[]): number {
    let found = this.#start
    for (let index = this.#start + 1; index < messages.length; index += 1) {
      if (messages[index]?.role === 'tool') continue
      found = index
      if (this.#tokensFrom(index) <= this.#limits.keepTokens) return index
    }
    return found
  }

  /** Tokens of the message that stays and of those from an index on. */
  #tokensFrom(index: number): number {
    const all = this.#sums.at(-1) ?? 0
    if (index === 0) return all
    return all - (this.#sums[index - 1] ?? 0) + (this.#sums[0] ?? 0)
  }
}
