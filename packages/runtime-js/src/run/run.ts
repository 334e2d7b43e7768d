import type { Agent, LLMConfig, Message, TokenUsage, ToolCall } from '@helix-agents/core'
import type { RunWrite, StateChange, StopConditions } from '@helix-agents/core/runtime'
import type { RunOutcome } from '../agent-result.ts'
import type { ChunkWriter } from '../stream/chunk-writer.ts'
import type { Claim } from '../lease/lease.ts'
import type { CallResult } from '../call/dispatch-call.ts'
import type { Meter } from './meter.ts'
import type { RunControl } from './run-control.ts'
import type { RunServices } from '../ports.ts'
import type { SessionWorkspaces } from '../session/session-workspaces.ts'
import type { StateTracker, StoredStateChange } from './state-tracker.ts'
import { toStoredOutcome, toStoredOutput } from '../session/stored-outcome.ts'
import type { ToolSet } from '../call/tool-sets.ts'

export interface RunParts {
  readonly services: RunServices
  readonly agent: Agent
  readonly sessionId: string
  readonly runId: string
  readonly claim: Claim
  readonly control: RunControl
  readonly toolSet: ToolSet
  readonly chunks: ChunkWriter
  readonly state: StateTracker
  readonly meter: Meter
  readonly workspaces: SessionWorkspaces
  /** The conversation: grows, and is never copied. */
  readonly messages: Message[]
  /** Steps that the session has finished before. */
  readonly stepCount: number
}

/** One run under way: what its steps share and what they move on. */
export class Run {
  readonly services: RunServices
  readonly agent: Agent
  readonly sessionId: string
  readonly runId: string
  readonly claim: Claim
  readonly control: RunControl
  readonly toolSet: ToolSet
  readonly chunks: ChunkWriter
  readonly state: StateTracker
  readonly meter: Meter
  readonly workspaces: SessionWorkspaces
  readonly messages: Message[]
  /** Sub-agents whose workspace names were warned of. */
  readonly warnedSubAgents = new Set<string>()
  readonly #startedAt: number
  readonly #stepsBefore: number
  #steps = 0
  #noting: Promise<void> = Promise.resolve()

  constructor(parts: RunParts) {
    this.services = parts.services
    this.agent = parts.agent
    this.sessionId = parts.sessionId
    this.runId = parts.runId
    this.claim = parts.claim
    this.control = parts.control
    this.toolSet = parts.toolSet
    this.chunks = parts.chunks
    this.state = parts.state
    this.meter = parts.meter
    this.workspaces = parts.workspaces
    this.messages = parts.messages
    this.#startedAt = parts.services.clock.now()
    this.#stepsBefore = parts.stepCount
  }

  /** Finished steps of the session. */
  get stepCount(): number {
    return this.#stepsBefore + this.#steps
  }

  /** Tokens of this run, those of its sub-agents included. */
  get usage(): TokenUsage {
    return this.meter.usage
  }

  /** What every write to the store carries. */
  write(): RunWrite {
    return this.claim.write()
  }

  stopConditions(): StopConditions {
    const { maxSteps, maxDurationMs } = this.agent
    return {
      aborted: this.control.cause !== undefined,
      interrupted: this.control.interrupted,
      steps: this.#steps,
      maxSteps,
      elapsedMs: this.services.clock.now() - this.#startedAt,
      reachedLimit: this.meter.reachedLimit,
      ...(maxDurationMs === undefined ? {} : { maxDurationMs }),
    }
  }

  /** Counts a model call that was made with the given settings. */
  count(usage: TokenUsage | undefined, config: LLMConfig): void {
    if (usage !== undefined) this.meter.count(usage, config)
  }

  /**
   * Stores the result of a call, with what it has changed, while its step goes on. One at a time:
   * a later one holds more of the state.
   */
  noteCall(call: ToolCall, result: CallResult): Promise<void> {
    this.#noting = this.#noting.then(() => this.#note(call, result))
    return this.#noting
  }

  /**
   * Ends a step: its messages, its state and its checkpoint are stored in one write, and how the
   * run ends when the step decides that. What is stored was told before, so that a reader of the
   * stream misses nothing when the process dies in between.
   */
  async commit(messages: readonly Message[], outcome?: RunOutcome): Promise<void> {
    await this.chunks.flush()
    const write = this.write()
    await this.services.stateStore.commitStep({
      ...write,
      messages,
      checkpointId: checkpointId(this.sessionId, this.stepCount + 1, write.now),
      ...this.#takeChange(this.state.takeChange()),
      ...this.takeSpending(),
      ...(outcome === undefined ? {} : { outcome: toStoredOutcome(outcome) }),
    })
    this.messages.push(...messages)
    this.#steps += 1
  }

  /** What the run has used, when that is not stored yet. */
  takeSpending(): Pick<StateChange, 'spending'> {
    const spending = this.meter.takeChange()
    return spending === undefined ? {} : { spending }
  }

  async #note(call: ToolCall, { message, finish }: CallResult): Promise<void> {
    await this.chunks.flush()
    const write = this.write()
    await this.services.stateStore.completeToolCall({
      ...write,
      toolCallId: call.id,
      result: {
        message,
        ...(finish === undefined ? {} : { finish: { output: toStoredOutput(finish.output) } }),
        endedAt: write.now,
      },
      ...this.#takeChange(this.state.settle(call)),
    })
  }

  #takeChange(customState: StoredStateChange): StateChange {
    const fileLedgers = this.workspaces.takeChangedLedgers()
    return {
      ...(customState === undefined ? {} : { customState }),
      ...(fileLedgers === undefined ? {} : { fileLedgers }),
    }
  }
}

function checkpointId(sessionId: string, stepCount: number, now: number): string {
  const random = Math.floor(Math.random() * 0x1_00_00_00)
  return `cpv1-${sessionId}-s${stepCount}-t${now}-${random.toString(16).padStart(6, '0')}`
}
