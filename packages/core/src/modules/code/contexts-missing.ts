import { WorkspaceFailedError } from '../../errors/workspace-failed-error.ts'

/** The agent declares contexts, the interpreter has none. */
export function contextsMissing(workspace: string): WorkspaceFailedError {
  return new WorkspaceFailedError(
    'capability-missing',
    `the interpreter of workspace ${workspace} keeps no contexts`,
    { hint: 'Run the code without a context.' },
  )
}
