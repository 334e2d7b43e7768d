import type { ModuleToolContext } from '../modules/define-module.ts'
import type { FileSystem } from '../modules/fs/contract.ts'
import type { FileVersions } from '../modules/fs/versions/file-versions.ts'
import type { OpenWorkspace } from '../registry/workspace-access.ts'
import type { Clock } from '../time/clock.ts'
import type { WorkspaceRef } from '../workspace/ref.ts'
import type { CallAccess } from '../permissions/tool-permission.ts'
import type { ToolContext } from './tool-context.ts'

type Output = 'stdout' | 'stderr'

/** What one call of a capability tool may use, from the context of the agent's tool call. */
export class WorkspaceToolCall implements ModuleToolContext {
  readonly workspace: string
  readonly files: FileSystem | undefined
  readonly shellRoot: string | undefined
  readonly ledger: FileVersions
  readonly signal: AbortSignal
  readonly clock: Clock
  readonly #context: CallAccess & Partial<Pick<ToolContext, 'progress'>>
  /** Keep what a chunk leaves of a character; made for tools that have live output. */
  #decoders: Map<Output, TextDecoder> | undefined

  /** @param context Without `progress` there is no live output. */
  constructor(
    workspace: string,
    open: OpenWorkspace,
    context: CallAccess & Partial<Pick<ToolContext, 'progress'>>,
  ) {
    this.workspace = workspace
    this.files = open.live.fs
    this.shellRoot = open.live.shellRoot
    this.ledger = open.ledger
    this.signal = context.abortSignal
    this.clock = context.workspaces.clock
    this.#context = context
  }

  /** The agent and its session: two sub-agents of one kind are two actors. */
  get actor(): string {
    return `${this.#context.agentType} (${this.#context.sessionId})`
  }

  progress(output: Output, chunk: Uint8Array): void {
    this.#decoders ??= new Map()
    let decoder = this.#decoders.get(output)
    if (decoder === undefined) {
      decoder = new TextDecoder('utf-8', { ignoreBOM: true })
      this.#decoders.set(output, decoder)
    }
    this.#emit(output, decoder.decode(chunk, { stream: true }))
  }

  switchTo(ref: WorkspaceRef): Promise<void> {
    return this.#context.workspaces.switchTo(this.workspace, ref)
  }

  /** Says what the decoders still hold. */
  end(): void {
    this.#decoders?.forEach((decoder, output) => this.#emit(output, decoder.decode()))
    this.#decoders = undefined
  }

  #emit(output: Output, text: string): void {
    if (text !== '') this.#context.progress?.(output, text)
  }
}
