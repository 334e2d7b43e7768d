import { WorkspaceFailedError } from '../errors/workspace-failed-error.ts'
import { allModules, type Capabilities, type ModuleName } from '../modules/list.ts'
import type { OfferedCapabilities } from './ref.ts'
import type { Workspace } from './workspace.ts'

export interface CapabilityCheck {
  /** Name of the workspace. */
  readonly workspace: string
  readonly providerId: string
  readonly declared: Capabilities
  /** What the provider, or the ref of an open workspace, says it has. */
  readonly offered: OfferedCapabilities
  /** Absent before the workspace is open. */
  readonly live?: Workspace
}

/**
 * Every declared capability is offered and, once open, its module is there.
 * @throws {WorkspaceFailedError} `capability-missing`
 */
export function assertCapabilities(check: CapabilityCheck): void {
  for (const { name } of allModules()) {
    if (check.declared[name] === undefined) continue
    const isMissing = check.live !== undefined && check.live[name] === undefined
    if (check.offered[name] !== true || isMissing) throw capabilityMissing(check, name)
  }
}

function capabilityMissing(check: CapabilityCheck, capability: ModuleName): WorkspaceFailedError {
  const mistake = likelyMistake(check.providerId, capability)
  return new WorkspaceFailedError(
    'capability-missing',
    `workspace "${check.workspace}" declares ${capability}, ` +
      `which its provider ${check.providerId} does not offer` +
      (mistake === undefined ? '' : `; likely cause: ${mistake}`),
    { hint: 'An operator must change the declaration of the workspace or its provider.' },
  )
}

function likelyMistake(providerId: string, capability: ModuleName): string | undefined {
  if (capability === 'shell') return 'a provider that only stores files has no shell'
  if (capability !== 'snapshot' || providerId !== 'cloudflare-sandbox') return undefined
  return 'a sandbox takes snapshots only with its backup bucket configured (backupR2Binding)'
}
