import { workspaceToolName } from '../tools/tool-name.ts'
import type { PermissionRule } from './permission-rule.ts'

/** What is known of the calls of a tool before there is one. */
export interface ToolFacts {
  /** As the model calls it. */
  readonly name: string
  /** Of a workspace tool: its name without the prefix. */
  readonly shortName?: string
  readonly workspace?: string
  /** Its calls run a command. */
  readonly hasCommand: boolean
  /** Its calls name paths. */
  readonly hasPaths: boolean
}

/** What facts are read from; a `Tool` is one. */
interface NamedTool {
  readonly name: string
  readonly permission?: { readonly facts: ToolFacts }
}

/** Of a tool of a capability: what its calls name. */
interface NamingTool {
  readonly name: string
  readonly command?: unknown
  readonly paths?: unknown
}

/** The facts of a tool of a capability. */
export function factsOfModuleTool(
  workspace: string,
  tool: NamingTool,
): ToolFacts & { readonly shortName: string; readonly workspace: string } {
  return {
    name: workspaceToolName(workspace, tool.name),
    shortName: tool.name,
    workspace,
    hasCommand: tool.command !== undefined,
    hasPaths: tool.paths !== undefined,
  }
}

/** The facts of a tool that runs nothing and names no path, unless it says otherwise. */
export function factsOf({ name, permission }: NamedTool): ToolFacts {
  return permission?.facts ?? { name, hasCommand: false, hasPaths: false }
}

/** Whether a rule is about a tool, by its name and its workspace. */
export function isAbout(rule: PermissionRule, { name, shortName, workspace }: ToolFacts): boolean {
  if (rule.workspace !== undefined && rule.workspace !== workspace) return false
  return rule.tool === undefined || rule.tool === name || rule.tool === shortName
}
