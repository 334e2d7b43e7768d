import type { Agent, Clock, CostOf, LLMConfig, TokenUsage } from '@helix-agents/core'
import {
  addRunUsage,
  type BudgetLimit,
  costOfCall,
  NO_USAGE,
  reachedLimit,
  type RunUsage,
  runUsageOf,
} from '@helix-agents/core/runtime'

export interface MeterOptions {
  readonly agent: Agent
  readonly clock: Clock
  /** What was used before this process took over. */
  readonly before: RunUsage | undefined
  /** The session holds the usage of an earlier run. */
  readonly isStale: boolean
  /** That of the parent, for a sub-agent: what it uses is used by both. */
  readonly parent?: Meter | undefined
}

/** Counts what a run uses, and knows when a limit is reached. */
export class Meter {
  readonly #options: MeterOptions
  readonly #startedAt: number
  #spent: RunUsage
  /** Of this run alone: what it resumes is not in it. */
  #own: RunUsage = NO_USAGE
  #lastUsage: TokenUsage | undefined
  #isChanged: boolean
  #isCostUnknown = false

  constructor(options: MeterOptions) {
    this.#options = options
    this.#startedAt = options.clock.now()
    this.#spent = options.before ?? NO_USAGE
    this.#isChanged = options.isStale
  }

  /** All that the run has used up to now. */
  get usage(): RunUsage {
    return { ...this.#spent, durationMs: this.#spent.durationMs + this.elapsedMs }
  }

  /** Time since the start of this run, in milliseconds. */
  get elapsedMs(): number {
    return this.#options.clock.now() - this.#startedAt
  }

  /** What this run alone has used, with its sub-agents: nothing of the runs that it resumes. */
  get ownUsage(): RunUsage {
    return this.#own
  }

  /** What the last model call has used. */
  get lastUsage(): TokenUsage | undefined {
    return this.#lastUsage
  }

  /** The limit that is reached: of this run, or of one whose sub-agent it is. */
  get reachedLimit(): BudgetLimit | undefined {
    const { agent, parent } = this.#options
    if (this.#isCostUnknown && agent.budget?.maxCost !== undefined) return 'cost-unknown'
    const own = agent.budget === undefined ? undefined : reachedLimit(agent.budget, this.usage)
    return own ?? parent?.reachedLimit
  }

  /** Time until a limit of time is reached; `undefined` without one. */
  get timeLeftMs(): number | undefined {
    const { agent } = this.#options
    const budgetMs = agent.budget?.maxDurationMs
    const left = budgetMs === undefined ? undefined : budgetMs - this.usage.durationMs
    if (left === undefined) return agent.maxDurationMs
    return Math.max(0, Math.min(left, agent.maxDurationMs ?? left))
  }

  /** Counts a model call that was made with the given settings. */
  count(usage: TokenUsage, config: LLMConfig): void {
    const { costOf } = this
    const cost = costOf === undefined ? undefined : costOfCall(costOf, usage, config)
    if (costOf !== undefined && cost === undefined) this.#missCost()
    this.#lastUsage = usage
    this.#use(runUsageOf(usage, cost))
  }

  /** That of the agent, or of the nearest one whose sub-agent it is: all count in one unit. */
  get costOf(): CostOf | undefined {
    const { agent, parent } = this.#options
    return agent.budget?.costOf ?? parent?.costOf
  }

  /** Counts what a sub-agent had used before its run was resumed. */
  countEarlier(usage: RunUsage | undefined): void {
    if (usage !== undefined) this.#add({ ...usage, durationMs: 0 })
  }

  /** What is to be stored; `undefined` when that is stored already. */
  consumeChange(): RunUsage | undefined {
    const hasTimeLimit = this.#options.agent.budget?.maxDurationMs !== undefined
    if (!this.#isChanged && !hasTimeLimit) return undefined
    this.#isChanged = false
    return this.usage
  }

  #missCost(): void {
    this.#isCostUnknown = true
    const { parent } = this.#options
    if (parent !== undefined) parent.#missCost()
  }

  /** What is used now, by this run or by a sub-agent of it. */
  #use(usage: RunUsage): void {
    this.#own = addRunUsage(this.#own, usage)
    this.#spent = addRunUsage(this.#spent, usage)
    this.#isChanged = true
    const { parent } = this.#options
    if (parent !== undefined) parent.#use(usage)
  }

  #add(usage: RunUsage): void {
    this.#spent = addRunUsage(this.#spent, usage)
    this.#isChanged = true
    this.#options.parent?.countEarlier(usage)
  }
}
