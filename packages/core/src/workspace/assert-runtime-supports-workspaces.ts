import type { Agent } from '../agent/agent-definition.ts'
import { WorkspaceFailedError } from '../errors/workspace-failed-error.ts'

/**
 * For runtimes without workspaces: rejects an agent that declares some, before anything durable
 * happens.
 * @param runtimeName as users know it, such as `Temporal`.
 * @throws {WorkspaceFailedError} `config-invalid`, naming the agent.
 */
export function assertRuntimeSupportsWorkspaces(
  agent: Pick<Agent, 'name' | 'workspaces'>,
  runtimeName: string,
): void {
  const names = Object.keys(agent.workspaces)
  if (names.length === 0) return
  throw new WorkspaceFailedError(
    'config-invalid',
    `${runtimeName} runtime does not support workspaces: ` +
      `agent "${agent.name}" declares ${names.join(', ')}`,
  )
}
