import { FileSystemError, type FileSystemErrorCode } from '../errors/file-system-error.ts'
import { logMessages } from '../logging/log-messages.ts'
import type { WorkspaceAccess } from '../registry/workspace-access.ts'

/** Refusals of the file layer that somebody may be probing with. Policies audit their own. */
const AUDITED: Readonly<Partial<Record<FileSystemErrorCode, string>>> = {
  'path-escape': logMessages.pathEscapeRejected,
  'read-only': logMessages.readOnlyRejected,
}

/** So much of a refused path is shown. */
const SHOWN_CHARACTERS = 200

/** Records that a tool was refused a path outside the workspace or a change of what is read-only. */
export function auditRefusal(error: unknown, workspace: string, access: WorkspaceAccess): void {
  if (!FileSystemError.isInstance(error)) return
  const message = AUDITED[error.code]
  if (message === undefined) return
  const path = error.path.slice(0, SHOWN_CHARACTERS)
  access.audit(workspace, { message, code: error.code, key: path, fields: { path } })
}
