import { WorkspaceFailedError } from '@helix-agents/core'
import { findSystemProgram } from './find-program.ts'

/** @throws {WorkspaceFailedError} `config-invalid` when the host has no `bwrap`. */
export function requireBubblewrap(find = findSystemProgram): string {
  const bwrap = find('bwrap')
  if (bwrap !== undefined) return bwrap
  throw new WorkspaceFailedError(
    'config-invalid',
    "isolation 'bubblewrap' needs the program bwrap, which the host does not have",
    { hint: "An operator must install bubblewrap, or choose isolation 'none'." },
  )
}
