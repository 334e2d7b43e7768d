import type { ToolCall, ToolContext, WorkspaceAccess } from '@helix-agents/core'
import type { Run } from '../ports.ts'

/** What one tool call may use. */
export class CallContext implements ToolContext {
  readonly abortSignal: AbortSignal
  readonly #run: Run
  readonly #call: ToolCall

  constructor(run: Run, call: ToolCall, signal: AbortSignal) {
    this.#run = run
    this.#call = call
    this.abortSignal = signal
  }

  get sessionId(): string {
    return this.#run.sessionId
  }

  get agentId(): string {
    return this.#run.runId
  }

  get agentType(): string {
    return this.#run.agent.name
  }

  get toolCallId(): string {
    return this.#call.id
  }

  get workspaces(): WorkspaceAccess {
    return this.#run.workspaces.access
  }

  // Arrow functions: a tool may take them out of the context.
  readonly getState = <T>(): T => this.#run.state.read<T>()

  readonly updateState = <T>(recipe: (draft: T) => void): void => {
    this.#run.state.update(this.#call, recipe)
  }

  emit(eventName: string, data: unknown): void {
    this.#run.chunks.emit('custom', { eventName, data })
  }

  progress(output: 'stdout' | 'stderr', text: string): void {
    const { id, name } = this.#call
    this.#run.chunks.emit('tool_progress', { toolCallId: id, toolName: name, output, text })
  }
}
