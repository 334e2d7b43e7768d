import type { ToolCall, ToolContext, WorkspaceAccess } from '@helix-agents/core'
import type { Run } from './run.ts'

/** What a call did besides its result, also when it failed. */
export interface CallEffects {
  /** The custom state is stored with the whole step, later than the result of a call. */
  changedState: boolean
}

/** What one tool call may use. */
export class CallContext implements ToolContext {
  readonly abortSignal: AbortSignal
  readonly #run: Run
  readonly #call: ToolCall
  readonly #effects: CallEffects

  constructor(
    run: Run,
    call: ToolCall,
    options: { readonly signal: AbortSignal; readonly effects: CallEffects },
  ) {
    this.#run = run
    this.#call = call
    this.#effects = options.effects
    this.abortSignal = options.signal
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

  getState<T>(): T {
    return this.#run.state.read<T>()
  }

  updateState<T>(recipe: (draft: T) => void): void {
    this.#effects.changedState = true
    this.#run.state.update(recipe)
  }

  emit(eventName: string, data: unknown): void {
    this.#run.chunks.emit('custom', { eventName, data })
  }

  progress(output: 'stdout' | 'stderr', text: string): void {
    const { id, name } = this.#call
    this.#run.chunks.emit('tool_progress', { toolCallId: id, toolName: name, output, text })
  }
}
