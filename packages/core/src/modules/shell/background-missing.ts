import { WorkspaceFailedError } from '../../errors/workspace-failed-error.ts'

/** The agent declares background processes, the provider has none. */
export function backgroundMissing(workspace: string): WorkspaceFailedError {
  return new WorkspaceFailedError(
    'capability-missing',
    `workspace ${workspace} cannot run commands in the background`,
    { hint: 'Run the command without opts.background.' },
  )
}
