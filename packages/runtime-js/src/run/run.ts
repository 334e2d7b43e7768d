import type { Agent, Message, RunWrite, StopConditions, TokenUsage } from '@helix-agents/core'
import type { ChunkWriter } from './chunk-writer.ts'
import type { RunControl } from './run-control.ts'
import type { RunServices } from './run-services.ts'
import type { SessionWorkspaces } from './session-workspaces.ts'
import type { StateTracker } from './state-tracker.ts'
import type { ToolSet } from './tool-sets.ts'

export interface RunParts {
  readonly services: RunServices
  readonly agent: Agent
  readonly sessionId: string
  readonly runId: string
  readonly control: RunControl
  readonly toolSet: ToolSet
  readonly chunks: ChunkWriter
  readonly state: StateTracker
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
  readonly control: RunControl
  readonly toolSet: ToolSet
  readonly chunks: ChunkWriter
  readonly state: StateTracker
  readonly workspaces: SessionWorkspaces
  readonly messages: Message[]
  /** Sub-agents whose workspace names were warned of. */
  readonly warnedSubAgents = new Set<string>()
  readonly #startedAt: number
  readonly #stepsBefore: number
  #steps = 0
  #usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 }

  constructor(parts: RunParts) {
    this.services = parts.services
    this.agent = parts.agent
    this.sessionId = parts.sessionId
    this.runId = parts.runId
    this.control = parts.control
    this.toolSet = parts.toolSet
    this.chunks = parts.chunks
    this.state = parts.state
    this.workspaces = parts.workspaces
    this.messages = parts.messages
    this.#startedAt = parts.services.clock.now()
    this.#stepsBefore = parts.stepCount
  }

  /** Finished steps of the session. */
  get stepCount(): number {
    return this.#stepsBefore + this.#steps
  }

  get usage(): TokenUsage {
    return this.#usage
  }

  /** What every write to the store carries. */
  write(): RunWrite {
    const { sessionId, runId } = this
    return { sessionId, runId, now: this.services.clock.now() }
  }

  stopConditions(): StopConditions {
    const { maxSteps, maxDurationMs } = this.agent
    return {
      aborted: this.control.cause !== undefined,
      interrupted: this.control.interrupted,
      steps: this.#steps,
      maxSteps,
      elapsedMs: this.services.clock.now() - this.#startedAt,
      ...(maxDurationMs === undefined ? {} : { maxDurationMs }),
    }
  }

  count(usage: TokenUsage | undefined): void {
    if (usage === undefined) return
    const { inputTokens = 0, outputTokens = 0 } = usage
    const total = usage.totalTokens ?? inputTokens + outputTokens
    this.#usage = {
      inputTokens: this.#usage.inputTokens + inputTokens,
      outputTokens: this.#usage.outputTokens + outputTokens,
      totalTokens: this.#usage.totalTokens + total,
    }
  }

  /** Ends a step: its messages, its state and its checkpoint are stored in one write. */
  async commit(messages: readonly Message[]): Promise<void> {
    const write = this.write()
    const customState = this.state.takeChange()
    const fileLedgers = this.workspaces.takeChangedLedgers()
    await this.services.stateStore.commitStep({
      ...write,
      messages,
      checkpointId: checkpointId(this.sessionId, this.stepCount + 1, write.now),
      ...(customState === undefined ? {} : { customState }),
      ...(fileLedgers === undefined ? {} : { fileLedgers }),
    })
    this.messages.push(...messages)
    this.#steps += 1
  }
}

function checkpointId(sessionId: string, stepCount: number, now: number): string {
  const random = Math.floor(Math.random() * 0x1_00_00_00)
  return `cpv1-${sessionId}-s${stepCount}-t${now}-${random.toString(16).padStart(6, '0')}`
}
