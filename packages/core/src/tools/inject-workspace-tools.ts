import type { WorkspaceDeclaration } from '../workspace/declaration.ts'
import {
  type AnyModule,
  allModules,
  type ToolNotes,
  type WorkspaceCapabilityFlags,
} from '../modules/list.ts'
import type { DeclaredModule } from './declared-module.ts'
import type { Tool } from './tool.ts'
import { WorkspaceTool } from './workspace-tool.ts'

/**
 * The tools of every declared capability of every workspace, named `workspace__<name>__<tool>`.
 * They are static: they find the live workspace when they are called, and open nothing before.
 *
 * @param offered What the provider behind a workspace can offer; decides on optional tools.
 * @param notesOf What that provider adds to the descriptions. Default: nothing.
 */
export function injectWorkspaceTools(
  declarations: Readonly<Record<string, WorkspaceDeclaration>>,
  offered: (name: string) => WorkspaceCapabilityFlags,
  notesOf: (name: string) => ToolNotes | undefined = () => undefined,
): Tool[] {
  return Object.values(declarations).flatMap((declaration) => {
    const flags = offered(declaration.name)
    const notes = notesOf(declaration.name) ?? {}
    return allModules().flatMap((definition) =>
      injectModule(declaration, definition, { flags, notes }),
    )
  })
}

interface OfProvider {
  readonly flags: WorkspaceCapabilityFlags
  readonly notes: ToolNotes
}

function injectModule(
  declaration: WorkspaceDeclaration,
  definition: AnyModule,
  { flags, notes }: OfProvider,
): Tool[] {
  const config: unknown = declaration.capabilities[definition.name]
  if (config === undefined) return []
  const { name: workspace, provider } = declaration
  const labels = { workspace, providerId: provider.kind }
  const module: DeclaredModule = { workspace, labels, definition, config, guarded: new WeakMap() }
  return definition.tools
    .filter((tool) => tool.available(config, flags))
    .map(
      (tool, index) => new WorkspaceTool(module, tool, index === 0 ? notes[definition.name] : ''),
    )
}
