import type { WorkspaceDeclaration } from '../../src/workspace/declaration.ts'
import type { ProviderSelection } from '../../src/workspace/ref.ts'
import type { PolicyRejection } from '../../src/modules/define-module.ts'
import { FileVersions } from '../../src/modules/fs/versions/file-versions.ts'
import {
  type CapabilitiesInput,
  type Capabilities,
  workspaceModules,
} from '../../src/modules/list.ts'
import type { UseOptions, WorkspaceAccess } from '../../src/registry/workspace-access.ts'
import { createRecordingMetrics, ManualClock } from '../../src/testing/index.ts'
import { injectWorkspaceTools } from '../../src/tools/inject-workspace-tools.ts'
import type { Tool } from '../../src/tools/tool.ts'
import type { ToolContext } from '../../src/tools/tool-context.ts'
import type { WorkspaceCapabilityFlags } from '../../src/modules/list.ts'
import type { WorkspaceRef } from '../../src/workspace/ref.ts'
import type { Workspace } from '../../src/workspace/workspace.ts'

/** One open workspace without a registry, and a record of what tools did with it. */
export class StubAccess implements WorkspaceAccess {
  readonly clock = new ManualClock()
  readonly metrics = createRecordingMetrics()
  readonly ledger = new FileVersions()
  readonly audits: PolicyRejection[] = []
  readonly switches: WorkspaceRef[] = []
  readonly uses: UseOptions[] = []
  notice: string | undefined
  live: Workspace

  constructor(modules: Partial<Workspace>) {
    this.live = { id: 'w1', isolation: 'none', close: async () => {}, ...modules }
  }

  has(name: string): boolean {
    return name === 'box'
  }

  providerId(): string {
    return 'stub'
  }

  async use<T>(
    _name: string,
    operation: (workspace: { live: Workspace; ledger: FileVersions }) => Promise<T>,
    options: UseOptions = {},
  ): Promise<T> {
    this.uses.push(options)
    return operation({ live: this.live, ledger: this.ledger })
  }

  async switchTo(_name: string, ref: WorkspaceRef): Promise<void> {
    this.switches.push(ref)
  }

  takeNotice(): string | undefined {
    const { notice } = this
    this.notice = undefined
    return notice
  }

  audit(_name: string, rejection: PolicyRejection): void {
    this.audits.push(rejection)
  }
}

export interface Progress {
  readonly output: 'stdout' | 'stderr'
  readonly text: string
}

/** The tools of one workspace `box`, called as a runtime calls them. */
export class StubAgent {
  readonly access: StubAccess
  readonly tools: ReadonlyMap<string, Tool>
  readonly progress: Progress[] = []
  readonly abort = new AbortController()

  constructor(
    modules: Partial<Workspace>,
    declared: CapabilitiesInput,
    offered: WorkspaceCapabilityFlags = {},
  ) {
    this.access = new StubAccess(modules)
    const tools = injectWorkspaceTools({ box: declare(declared) }, () => offered)
    this.tools = new Map(tools.map((tool) => [tool.name.replace('workspace__box__', ''), tool]))
  }

  get context(): ToolContext {
    return {
      sessionId: 's1',
      agentId: 'run1',
      agentType: 'tester',
      toolCallId: 't1',
      abortSignal: this.abort.signal,
      workspaces: this.access,
      getState: () => {
        throw new Error('not here')
      },
      updateState: () => {},
      emit: () => {},
      progress: (output, text) => void this.progress.push({ output, text }),
    }
  }

  /** The structured result. */
  async call<T = unknown>(name: string, input: unknown): Promise<T> {
    const tool = this.tools.get(name)!
    return (await tool.execute(await tool.parse(input), this.context)) as T
  }

  /** The result as the model reads it. */
  async ask(name: string, input: unknown) {
    return this.tools.get(name)!.toModelOutput(await this.call(name, input))
  }
}

export function declare(
  declared: CapabilitiesInput,
  provider: ProviderSelection = { kind: 'stub' },
): WorkspaceDeclaration {
  const entries = Object.values(workspaceModules).flatMap((definition) => {
    const capability = declared[definition.name]
    if (capability === undefined || capability === false) return []
    const config = definition.configSchema.parse(capability === true ? {} : capability)
    return [[definition.name, config] as const]
  })
  const capabilities = Object.fromEntries(entries) as Capabilities
  return { name: 'box', provider, capabilities, onLost: 'reopen' }
}
