import type { Agent, Clock, CostOf, LLMConfig, TokenUsage } from '@helix-agents/core'
import {
  addSpending,
  type BudgetLimit,
  costOfCall,
  NO_SPENDING,
  reachedLimit,
  type Spending,
  spendingOf,
} from '@helix-agents/core/runtime'

export interface MeterOptions {
  readonly agent: Agent
  readonly clock: Clock
  /** What was used before this process took over. */
  readonly before: Spending | undefined
  /** The session holds the spending of an earlier run. */
  readonly isStale: boolean
  /** That of the parent, for a sub-agent: what it uses is used by both. */
  readonly parent?: Meter | undefined
}

/** Counts what a run uses, and knows when a limit is reached. */
export class Meter {
  readonly #options: MeterOptions
  readonly #startedAt: number
  #spent: Spending
  /** Of this run alone: what it resumes is not in it. */
  #used: Spending = NO_SPENDING
  #lastUsage: TokenUsage | undefined
  #isChanged: boolean
  #isCostUnknown = false

  constructor(options: MeterOptions) {
    this.#options = options
    this.#startedAt = options.clock.now()
    this.#spent = options.before ?? NO_SPENDING
    this.#isChanged = options.isStale
  }

  /** All that the run has used up to now. */
  get spending(): Spending {
    return { ...this.#spent, durationMs: this.#spent.durationMs + this.elapsedMs }
  }

  /** Time since the start of this run, in milliseconds. */
  get elapsedMs(): number {
    return this.#options.clock.now() - this.#startedAt
  }

  /** Tokens of this run, those of its sub-agents included. */
  get usage(): Required<Pick<TokenUsage, 'inputTokens' | 'outputTokens' | 'totalTokens'>> {
    const { inputTokens, outputTokens, totalTokens } = this.#used
    return { inputTokens, outputTokens, totalTokens }
  }

  /** What the last model call has used. */
  get lastUsage(): TokenUsage | undefined {
    return this.#lastUsage
  }

  /** The limit that is reached: of this run, or of one whose sub-agent it is. */
  get reachedLimit(): BudgetLimit | undefined {
    const { agent, parent } = this.#options
    if (this.#isCostUnknown && agent.budget?.maxCost !== undefined) return 'cost-unknown'
    const own = agent.budget === undefined ? undefined : reachedLimit(agent.budget, this.spending)
    return own ?? parent?.reachedLimit
  }

  /** Time until a limit of time is reached; `undefined` without one. */
  get timeLeftMs(): number | undefined {
    const { agent } = this.#options
    const budgetMs = agent.budget?.maxDurationMs
    const left = budgetMs === undefined ? undefined : budgetMs - this.spending.durationMs
    if (left === undefined) return agent.maxDurationMs
    return Math.max(0, Math.min(left, agent.maxDurationMs ?? left))
  }

  /** Counts a model call that was made with the given settings. */
  count(usage: TokenUsage, config: LLMConfig): void {
    const { costOf } = this
    const cost = costOf === undefined ? undefined : costOfCall(costOf, usage, config)
    if (costOf !== undefined && cost === undefined) this.#missCost()
    this.#lastUsage = usage
    this.#use(spendingOf(usage, cost))
  }

  /** That of the agent, or of the nearest one whose sub-agent it is: all count in one unit. */
  get costOf(): CostOf | undefined {
    const { agent, parent } = this.#options
    return agent.budget?.costOf ?? parent?.costOf
  }

  /** Counts what a sub-agent had used before its run was taken up again. */
  countEarlier(spending: Spending | undefined): void {
    if (spending !== undefined) this.#add({ ...spending, durationMs: 0 })
  }

  /** What is to be stored; `undefined` when that is stored already. */
  consumeChange(): Spending | undefined {
    const hasTimeLimit = this.#options.agent.budget?.maxDurationMs !== undefined
    if (!this.#isChanged && !hasTimeLimit) return undefined
    this.#isChanged = false
    return this.spending
  }

  #missCost(): void {
    this.#isCostUnknown = true
    const { parent } = this.#options
    if (parent !== undefined) parent.#missCost()
  }

  /** What is used now, by this run or by a sub-agent of it. */
  #use(spending: Spending): void {
    this.#used = addSpending(this.#used, spending)
    this.#spent = addSpending(this.#spent, spending)
    this.#isChanged = true
    const { parent } = this.#options
    if (parent !== undefined) parent.#use(spending)
  }

  #add(spending: Spending): void {
    this.#spent = addSpending(this.#spent, spending)
    this.#isChanged = true
    this.#options.parent?.countEarlier(spending)
  }
}
