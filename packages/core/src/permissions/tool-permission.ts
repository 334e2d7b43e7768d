import type { ToolContext } from '../tools/tool-context.ts'
import type { ModulePreview, PreviewBasis } from './module-preview.ts'
import type { PermissionSubject } from './permission-rule.ts'
import type { ToolFacts } from './tool-facts.ts'

/** What of a call decides what it touches. A `ToolContext` is one. */
export type CallAccess = Pick<ToolContext, 'sessionId' | 'agentType' | 'abortSignal' | 'workspaces'>

/** What permission rules and previews know of the calls of a tool. */
export interface ToolPermission {
  readonly facts: ToolFacts
  /** What a call would touch, by its parsed arguments alone. */
  subject(input: unknown): PermissionSubject | Promise<PermissionSubject>
  /**
   * The same with the paths that the workspace resolves: links, and what the shell calls its root.
   * Opens the workspace.
   */
  resolve(subject: PermissionSubject, access: CallAccess): Promise<PermissionSubject>
  /** What a person sees before the call runs; undefined: its arguments. Changes nothing. */
  preview(input: unknown, access: CallAccess): Promise<ModulePreview | undefined>
  /** What a preview is made from: the files that a changing call names, as they are now. */
  basis(input: unknown, access: CallAccess): Promise<PreviewBasis | undefined>
}
