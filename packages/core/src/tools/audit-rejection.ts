import { FileSystemError, type FileSystemErrorCode } from '../errors/file-system-error.ts'
import { logMessages } from '../logging/log-messages.ts'
import type { WorkspaceAccess } from '../registry/workspace-access.ts'

/** Errors of the file layer that may come from probing. Policies audit their own. */
const AUDITED: Readonly<Partial<Record<FileSystemErrorCode, string>>> = {
  'path-escape': logMessages.pathEscapeRejected,
  'read-only': logMessages.readOnlyRejected,
}

/** Characters of a rejected path in the log. */
const SHOWN_CHARACTERS = 200

/** Records that a tool asked for a path outside the workspace, or for a change of a read-only file. */
export function auditRejection(error: unknown, workspace: string, access: WorkspaceAccess): void {
  if (!FileSystemError.isInstance(error)) return
  const message = AUDITED[error.code]
  if (message === undefined) return
  const path = error.path.slice(0, SHOWN_CHARACTERS)
  access.audit(workspace, { message, code: error.code, key: path, fields: { path } })
}
