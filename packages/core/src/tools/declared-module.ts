import { WorkspaceFailedError } from '../errors/workspace-failed-error.ts'
import type { PolicyRejection } from '../modules/define-module.ts'
import type { AnyModule } from '../modules/list.ts'
import type { WorkspaceAccess } from '../registry/workspace-access.ts'
import type { WorkspaceLabels } from '../workspace/metrics.ts'
import type { Workspace } from '../workspace/workspace.ts'

/** A declared capability of a workspace; its tools share it. */
export interface DeclaredModule {
  readonly workspace: string
  readonly labels: WorkspaceLabels
  readonly definition: AnyModule
  readonly config: unknown
  /** The module behind its policy, by live workspace: each is made once. */
  readonly guarded: WeakMap<Workspace, object>
}

/**
 * The module of a live workspace behind its policy.
 * @throws {WorkspaceFailedError} `capability-missing`.
 */
export function guardedModule(
  { workspace, config, definition, guarded }: DeclaredModule,
  live: Workspace,
  access: WorkspaceAccess,
): object {
  const known = guarded.get(live)
  if (known !== undefined) return known
  const module = live[definition.name]
  if (module === undefined) {
    const detail = `workspace ${workspace} has no ${definition.name}`
    throw new WorkspaceFailedError('capability-missing', detail)
  }
  const audit = (rejection: PolicyRejection): void => access.audit(workspace, rejection)
  const guard = definition.guard(module, config, { workspace, audit })
  guarded.set(live, guard)
  return guard
}
