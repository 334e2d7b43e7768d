import type { Message, ToolCall } from '@helix-agents/core'
import { createTimeSlice } from '@helix-agents/core/provider'
import type { StateChange } from '@helix-agents/core/runtime'
import type { RunOutcome } from '../agent-result.ts'
import type { CallResult, RunContext, RunHistory, StepFiles, StepRecorder } from '../ports.ts'
import type { StoredStateChange } from '../run/state-tracker.ts'
import { toStoredOutcome, toStoredOutput } from '../session/stored-outcome.ts'

/** @param stepsBefore Steps that the session finished in earlier runs. */
export function createStepRecorder(run: RunContext, stepsBefore: number): StepRecorder {
  return new StoreRecorder(run, stepsBefore)
}

class StoreRecorder implements StepRecorder {
  readonly #run: RunContext
  readonly #stepsBefore: number
  #runSteps = 0
  readonly #slice = createTimeSlice()
  #recording: Promise<void> = Promise.resolve()

  constructor(run: RunContext, stepsBefore: number) {
    this.#run = run
    this.#stepsBefore = stepsBefore
  }

  get stepCount(): number {
    return this.#stepsBefore + this.#runSteps
  }

  get runSteps(): number {
    return this.#runSteps
  }

  recordCall(call: ToolCall, result: CallResult): Promise<void> {
    this.#recording = this.#recording.then(() => this.#record(call, result))
    return this.#recording
  }

  async commit(messages: readonly Message[], outcome?: RunOutcome): Promise<void> {
    const { chunks, lease, services, sessionId, state } = this.#run
    const files = this.#run.history && (await this.#takeSnapshots(this.#run.history))
    await chunks.flush()
    const write = lease.write()
    const stepCount = this.stepCount + 1
    await services.stateStore.commitStep({
      ...write,
      messages,
      checkpointId: checkpointId(sessionId, stepCount, write.now),
      ...files,
      ...this.#stateChange(state.consumeChange()),
      ...this.unstoredUsage(),
      ...(outcome !== undefined && { outcome: toStoredOutcome(outcome) }),
    })
    this.#run.messages.push(...messages)
    this.#runSteps += 1
    if (files !== undefined)
      await this.#run.history?.committed(files, { stepCount, now: write.now })
  }

  /** Before the step is stored: its checkpoint has the files that it left. */
  async #takeSnapshots(history: RunHistory): Promise<StepFiles> {
    const { registry } = this.#run.workspaces
    return registry === undefined ? {} : history.take(registry, this.stepCount + 1)
  }

  unstoredUsage(): Pick<StateChange, 'usage'> {
    const usage = this.#run.meter.consumeChange()
    return { ...(usage !== undefined && { usage }) }
  }

  async #record(call: ToolCall, { message, finish }: CallResult): Promise<void> {
    const { chunks, lease, services, state } = this.#run
    // Many calls may end at once, and a store may answer without I/O.
    if (this.#slice.due) await this.#slice.pause()
    await chunks.flush()
    const write = lease.write()
    const output = finish && toStoredOutput(finish.output)
    await services.stateStore.completeToolCall({
      ...write,
      toolCallId: call.id,
      result: { message, ...(finish !== undefined && { finish: { output } }), endedAt: write.now },
      ...this.#stateChange(state.settle(call)),
    })
  }

  #stateChange(customState: StoredStateChange): StateChange {
    const fileLedgers = this.#run.workspaces.consumeLedgerChanges()
    return {
      ...(customState !== undefined && { customState }),
      ...(fileLedgers !== undefined && { fileLedgers }),
    }
  }
}

function checkpointId(sessionId: string, stepCount: number, now: number): string {
  const random = Math.floor(Math.random() * 0x1_00_00_00)
  return `cpv1-${sessionId}-s${stepCount}-t${now}-${random.toString(16).padStart(6, '0')}`
}
