import type * as z from 'zod'
import type { WorkspaceDeclaration } from '../agent/agent-definition.ts'
import { WorkspaceFailedError } from '../errors/workspace-failed-error.ts'
import type { ModuleTool } from '../modules/define-module.ts'
import type { AnyModule } from '../modules/list.ts'
import type { OpenWorkspace, WorkspaceAccess } from '../registry/workspace-access.ts'
import type { WorkspaceLabels } from '../workspace/metrics.ts'
import type { Workspace } from '../workspace/workspace.ts'
import { auditRefusal } from './audit-refusal.ts'
import type { JsonSchema } from './json-schema.ts'
import { limitText } from './result-budget.ts'
import { parseToolInput } from './parse-tool-input.ts'
import { toJsonSchema } from './to-json-schema.ts'
import type { ModelOutput, ModelOutputPart, ToolAnnotations } from './model-output.ts'
import type { Tool, ToolContext } from './tool.ts'
import { WorkspaceToolCall } from './workspace-tool-call.ts'
import { workspaceOrderKey, workspaceToolName } from './tool-name.ts'

/** A declared capability of a workspace; puts the policy around the live module. */
export class GuardedModule {
  readonly workspace: string
  readonly config: unknown
  readonly labels: WorkspaceLabels
  readonly orderKey: string
  readonly #definition: AnyModule
  /** The guard of each live workspace, made once. */
  readonly #guards = new WeakMap<Workspace, object>()

  constructor(declaration: WorkspaceDeclaration, definition: AnyModule, config: unknown) {
    this.workspace = declaration.name
    this.config = config
    this.labels = { workspace: declaration.name, providerId: declaration.provider.kind }
    this.orderKey = workspaceOrderKey(declaration.name)
    this.#definition = definition
  }

  /** @throws {WorkspaceFailedError} `capability-missing`. */
  of(live: Workspace, access: WorkspaceAccess): object {
    return this.#guards.get(live) ?? this.#guard(live, access)
  }

  #guard(live: Workspace, access: WorkspaceAccess): object {
    const { workspace } = this
    const module = live[this.#definition.name]
    if (module === undefined) {
      const detail = `workspace ${workspace} has no ${this.#definition.name}`
      throw new WorkspaceFailedError('capability-missing', detail)
    }
    const guarded = this.#definition.guard(module, this.config, {
      workspace,
      audit: (rejection) => access.audit(workspace, rejection),
    })
    this.#guards.set(live, guarded)
    return guarded
  }
}

/** Schemas as models receive them; every agent shares the tools, so each is made once. */
const parametersOf = new WeakMap<z.ZodType, JsonSchema>()

/** A tool of a capability, bound to the name of a workspace. */
export class WorkspaceTool implements Tool {
  readonly name: string
  readonly description: string
  readonly annotations: ToolAnnotations
  readonly orderKey: string
  readonly #guarded: GuardedModule
  readonly #tool: ModuleTool<object, unknown>
  /** What must be said with a result, until it is rendered. */
  readonly #notices = new WeakMap<object, string>()

  constructor(guarded: GuardedModule, tool: ModuleTool<object, unknown>) {
    this.name = workspaceToolName(guarded.workspace, tool.name)
    this.description =
      typeof tool.description === 'string' ? tool.description : tool.description(guarded.config)
    this.annotations = tool.annotations
    this.orderKey = guarded.orderKey
    this.#guarded = guarded
    this.#tool = tool
  }

  get parameters(): JsonSchema {
    const { inputSchema } = this.#tool
    const known = parametersOf.get(inputSchema)
    if (known !== undefined) return known
    const parameters = toJsonSchema(inputSchema)
    parametersOf.set(inputSchema, parameters)
    return parameters
  }

  parse(input: unknown): unknown {
    return parseToolInput(this.#tool.inputSchema, input, () => this.parameters)
  }

  async execute(input: unknown, context: ToolContext): Promise<unknown> {
    const { workspaces, abortSignal } = context
    const { workspace } = this.#guarded
    const startedAt = workspaces.clock.now()
    try {
      const output = await workspaces.use(workspace, (open) => this.#run(open, input, context), {
        idempotent: this.annotations.idempotent,
        signal: abortSignal,
      })
      this.#measure(workspaces, 'success', startedAt)
      this.#noteWith(output, workspaces)
      return output
    } catch (error) {
      this.#measure(workspaces, 'error', startedAt)
      auditRefusal(error, workspace, workspaces)
      throw error
    }
  }

  toModelOutput(output: unknown): ModelOutput {
    const rendered = this.#tool.toModelOutput(output)
    const limited = typeof rendered === 'string' ? limitText(rendered) : rendered.map(limitPart)
    const notice = isObject(output) ? this.#notices.get(output) : undefined
    return notice === undefined ? limited : prepend(notice, limited)
  }

  takeNotice(workspaces: WorkspaceAccess): string | undefined {
    const notice = workspaces.takeNotice(this.#guarded.workspace)
    return notice === undefined ? undefined : `[workspace notice: ${notice}]`
  }

  async #run(open: OpenWorkspace, input: unknown, context: ToolContext): Promise<unknown> {
    const { workspace, config } = this.#guarded
    const module = this.#guarded.of(open.live, context.workspaces)
    const call = new WorkspaceToolCall(workspace, open, context)
    try {
      return await this.#tool.execute({ module, config, input, context: call })
    } finally {
      call.end()
    }
  }

  #measure(access: WorkspaceAccess, outcome: 'success' | 'error', startedAt: number): void {
    const { labels } = this.#guarded
    access.metrics.incToolCall(labels, this.#tool.name, outcome)
    access.metrics.observeToolMs(labels, this.#tool.name, access.clock.now() - startedAt)
  }

  #noteWith(output: unknown, access: WorkspaceAccess): void {
    if (!isObject(output)) return
    const notice = this.takeNotice(access)
    if (notice !== undefined) this.#notices.set(output, notice)
  }
}

function limitPart(part: ModelOutputPart): ModelOutputPart {
  return part.type === 'text' ? { type: 'text', text: limitText(part.text) } : part
}

function prepend(notice: string, output: ModelOutput): ModelOutput {
  if (typeof output === 'string') return `${notice}\n${output}`
  return [{ type: 'text', text: notice }, ...output]
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
