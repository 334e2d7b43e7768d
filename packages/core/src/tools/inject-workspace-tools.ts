import type * as z from 'zod'
import type { WorkspaceDeclaration } from '../agent/agent-definition.ts'
import type { ModuleDefinition } from '../modules/define-module.ts'
import { type ModuleName, workspaceModules } from '../modules/list.ts'
import type { WorkspaceCapabilityFlags } from '../workspace/ref.ts'
import type { Tool } from './tool.ts'
import { GuardedModule, WorkspaceTool } from './workspace-tool.ts'

type AnyModule = ModuleDefinition<ModuleName, object, z.ZodType>

const modules: readonly AnyModule[] = Object.values(workspaceModules)

/**
 * The tools of every declared capability of every workspace, named `workspace__<name>__<tool>`.
 * They are static: they find the live workspace when they are called, and open nothing before.
 *
 * @param offered What the provider behind a workspace can offer; decides on optional tools.
 */
export function injectWorkspaceTools(
  declarations: Readonly<Record<string, WorkspaceDeclaration>>,
  offered: (name: string) => WorkspaceCapabilityFlags,
): Tool[] {
  return Object.values(declarations).flatMap((declaration) => {
    const flags = offered(declaration.name)
    return modules.flatMap((definition) => injectModule(declaration, definition, flags))
  })
}

function injectModule(
  declaration: WorkspaceDeclaration,
  definition: AnyModule,
  offered: WorkspaceCapabilityFlags,
): Tool[] {
  const config: unknown = declaration.capabilities[definition.name]
  if (config === undefined) return []
  const guarded = new GuardedModule(declaration, definition, config)
  return definition.tools
    .filter((tool) => tool.available(config, offered))
    .map((tool) => new WorkspaceTool(guarded, tool))
}
