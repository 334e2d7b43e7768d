import { systemClock, type Tool, type ToolContext, type WorkspaceAccess } from '@helix-agents/core'
import {
  fileSystemConfigSchema,
  codeConfigSchema,
  type FileSystem,
  shellConfigSchema,
  snapshotConfigSchema,
  type Workspace,
  type WorkspaceCapabilityFlags,
} from '@helix-agents/core/provider'
import {
  FileVersions,
  injectWorkspaceTools,
  noopMetrics,
  toToolError,
} from '@helix-agents/core/runtime'
import { check } from '../assert.ts'
import type { BoundScale } from './bound-scale.ts'
import { measureWork, type WorkCost, type WorkHost } from './work-probe.ts'

/** What only a harness can put into a workspace, behind the back of its file system. */
export interface BoundPlants {
  /** A chain of nested directories named `d` below `/deep`, deeper than any path may be. */
  deepTree?(depth: number): Promise<void>
  /** A file without content that is read as zeros. */
  sparseFile?(path: string, bytes: number): Promise<void>
}

/** Makes the files that a call meets. */
export type BoundFiles = Pick<FileSystem, 'writeFile'>

/** A live workspace whose tools are measured. */
export interface BoundTarget {
  /** Stands in the table. */
  readonly provider: string
  readonly workspace: Workspace
  readonly capabilities: WorkspaceCapabilityFlags
  readonly host: WorkHost
  readonly scale: BoundScale
  readonly plants?: BoundPlants
  /**
   * Files and directories beyond which the documentation of the provider says that `snapshot` rejects
   * with `provider-failed`. Default: there is no such limit.
   */
  readonly maxSnapshotEntries?: number
  /** Where files are made that a call then meets, without the calls of the workspace. Default: `workspace.fs`. */
  readonly files?: BoundFiles
  /** Changes a tool; for tests of the harness itself. */
  wrapTool?(tool: Tool): Tool
  /** Receives the cost of every measured call. */
  report?(row: BoundRow): void
}

/** One line of the table. */
export interface BoundRow extends WorkCost {
  readonly provider: string
  readonly tool: string
  readonly behaviour: string
  /** `ok`, or the code of the error. */
  readonly result: string
}

/** What a measured call brought. */
export interface BoundCall extends WorkCost {
  /** `ok`, or the code that the model reads. */
  readonly result: string
  /** What the model reads; the message of an error. */
  readonly text: string
  /** Characters of output that were streamed while the call ran. */
  readonly streamed: number
}

const SESSION = { sessionId: 'bounds', agentId: 'run', agentType: 'kit', toolCallId: 'call' }

/** Calls tools as a runtime does, from JSON arguments to the text for the model, and measures. */
export class BoundSubject {
  readonly target: BoundTarget
  readonly #tools: readonly Tool[]
  readonly #access: WorkspaceAccess
  #streamed = 0

  constructor(target: BoundTarget) {
    this.target = target
    const tools = injectWorkspaceTools({ box: declarationOf(target) }, () => target.capabilities)
    this.#tools = tools.map((tool) => target.wrapTool?.(tool) ?? tool)
    this.#access = accessTo(target)
  }

  /** The files, not measured: to make what a call then meets. */
  get fs(): BoundFiles {
    const fs = this.target.files ?? this.target.workspace.fs
    check(fs !== undefined, 'a workspace with files')
    return fs
  }

  /** Names of the tools, without their prefix. */
  get toolNames(): readonly string[] {
    return this.#tools.map((tool) => tool.name.slice('workspace__box__'.length))
  }

  /** One call, measured. Never rejects. */
  async call(name: string, input: object, signal?: AbortSignal): Promise<BoundCall> {
    const json = JSON.stringify(input)
    this.#streamed = 0
    const { cost, outcome } = await measureWork(this.target.host, () =>
      this.#run(name, json, signal),
    )
    const streamed = this.#streamed
    if (outcome.status === 'fulfilled') {
      return { ...cost, result: 'ok', text: outcome.value, streamed }
    }
    const { code, message } = toToolError(outcome.reason)
    return { ...cost, result: code, text: message, streamed }
  }

  /** One call, not measured: it loads what only a first call loads. */
  async warmUp(name: string, input: object): Promise<void> {
    await this.#run(name, JSON.stringify(input))
  }

  async #run(name: string, json: string, signal = new AbortController().signal): Promise<string> {
    const tool = this.#tools.find((one) => one.name === `workspace__box__${name}`)
    check(tool !== undefined, `a tool ${name}`)
    const output = await tool.execute(tool.parse(JSON.parse(json)), this.#context(signal))
    const shown = tool.toModelOutput(output)
    return typeof shown === 'string' ? shown : `${shown.length} parts`
  }

  #context(abortSignal: AbortSignal): ToolContext {
    return {
      ...SESSION,
      abortSignal,
      workspaces: this.#access,
      getState: () => {
        throw new TypeError('a workspace tool has no state')
      },
      updateState: () => undefined,
      emit: () => undefined,
      progress: (_output, text) => void (this.#streamed += text.length),
    }
  }
}

function declarationOf({ capabilities, provider }: BoundTarget) {
  return {
    name: 'box',
    provider: { kind: provider },
    onLost: 'fail' as const,
    capabilities: {
      ...(capabilities.fs && { fs: fileSystemConfigSchema.parse({ extended: true }) }),
      ...(capabilities.shell && { shell: shellConfigSchema.parse({ background: true }) }),
      ...(capabilities.code && { code: codeConfigSchema.parse({ isStateful: true }) }),
      ...(capabilities.snapshot && { snapshot: snapshotConfigSchema.parse({}) }),
    },
  }
}

function accessTo({ workspace, provider }: BoundTarget): WorkspaceAccess {
  const open = { live: workspace, ledger: new FileVersions() }
  return {
    clock: systemClock,
    metrics: noopMetrics,
    has: (name) => name === 'box',
    providerId: () => provider,
    use: (_name, operation) => operation(open),
    switchTo: async () => undefined,
    takeNotice: () => undefined,
    audit: () => undefined,
  }
}
