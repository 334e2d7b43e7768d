import type * as z from 'zod'
import type { ModuleTool } from '../modules/define-module.ts'
import type { OpenWorkspace, WorkspaceAccess } from '../registry/workspace-access.ts'
import { isObject } from '../workspace/has-method.ts'
import { auditRejection } from './audit-rejection.ts'
import { type DeclaredModule, guardedModule } from './declared-module.ts'
import type { JsonSchema } from './json-schema.ts'
import { limitText } from './result-budget.ts'
import { parseToolInput } from './input/parse-tool-input.ts'
import { toJsonSchema } from './to-json-schema.ts'
import type { ModelOutput, ModelOutputPart, ToolAnnotations } from './model-output.ts'
import type { Tool } from './tool.ts'
import type { ToolContext } from './tool-context.ts'
import { WorkspaceToolPermission } from './workspace-tool-permission.ts'
import { WorkspaceToolCall } from './workspace-tool-call.ts'
import { workspaceOrderKey, workspaceToolName } from './tool-name.ts'

/** Schemas as models receive them; every agent shares the tools, so each is made once. */
const parametersOf = new WeakMap<z.ZodType, JsonSchema>()

/** A tool of a capability, bound to the name of a workspace. */
export class WorkspaceTool implements Tool {
  readonly name: string
  readonly description: string
  readonly annotations: ToolAnnotations
  readonly orderKey: string
  readonly permission: WorkspaceToolPermission
  readonly #module: DeclaredModule
  readonly #tool: ModuleTool<object, unknown>
  /** What must be said with a result, until it is rendered. */
  readonly #notices = new WeakMap<object, string>()

  constructor(module: DeclaredModule, tool: ModuleTool<object, unknown>, note = '') {
    const { workspace, config } = module
    const { description } = tool
    this.name = workspaceToolName(workspace, tool.name)
    const own = typeof description === 'string' ? description : description(config)
    this.description = note === '' ? own : `${own} ${note}`
    this.annotations = tool.annotations
    this.orderKey = workspaceOrderKey(workspace)
    this.#module = module
    this.#tool = tool
    this.permission = new WorkspaceToolPermission(module, tool)
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
    const { workspaces, abortSignal: signal } = context
    const { workspace } = this.#module
    const { idempotent } = this.annotations
    const startedAt = workspaces.clock.now()
    const operation = (open: OpenWorkspace): Promise<unknown> => this.#run(open, input, context)
    try {
      const output = await workspaces.use(workspace, operation, { idempotent, signal })
      this.#measure(workspaces, 'success', startedAt)
      const notice = this.takeNotice(workspaces)
      if (notice !== undefined && isObject(output)) this.#notices.set(output, notice)
      return output
    } catch (error) {
      this.#measure(workspaces, 'error', startedAt)
      auditRejection(error, workspace, workspaces)
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
    const notice = workspaces.takeNotice(this.#module.workspace)
    return notice === undefined ? undefined : `[workspace notice: ${notice}]`
  }

  async #run(open: OpenWorkspace, input: unknown, context: ToolContext): Promise<unknown> {
    const { workspace, config } = this.#module
    const module = guardedModule(this.#module, open.live, context.workspaces)
    const call = new WorkspaceToolCall(workspace, open, context)
    try {
      return await this.#tool.execute({ module, config, input, context: call })
    } finally {
      call.end()
    }
  }

  #measure(access: WorkspaceAccess, outcome: 'success' | 'error', startedAt: number): void {
    const { labels } = this.#module
    access.metrics.incToolCall(labels, this.#tool.name, outcome)
    access.metrics.observeToolMs(labels, this.#tool.name, access.clock.now() - startedAt)
  }
}

function limitPart(part: ModelOutputPart): ModelOutputPart {
  return part.type === 'text' ? { type: 'text', text: limitText(part.text) } : part
}

function prepend(notice: string, output: ModelOutput): ModelOutput {
  if (typeof output === 'string') return `${notice}\n${output}`
  return [{ type: 'text', text: notice }, ...output]
}
