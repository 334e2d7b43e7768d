import { WorkspaceFailedError } from '@helix-agents/core'
import type { CloudflareFileStoreConfig } from '../config.ts'

/** Whose files are meant. */
export interface NamespaceOwner {
  /** Equal only for the same files: JSON keeps every part apart, also half a surrogate pair. */
  readonly key: string
  /** The only session that may use them; undefined when they are shared. */
  readonly sessionId: string | undefined
}

/**
 * The namespace that a declaration asks for.
 * @throws {WorkspaceFailedError} `sharing-not-declared`.
 */
export function namespaceOwner(
  config: CloudflareFileStoreConfig,
  sessionId: string,
  workspace: string,
): NamespaceOwner {
  const { namespace, shareAcrossSessions } = config
  if (namespace === undefined) {
    return { key: JSON.stringify(['session', sessionId, workspace]), sessionId }
  }
  if (shareAcrossSessions) {
    return { key: JSON.stringify(['namespace', namespace]), sessionId: undefined }
  }
  throw new WorkspaceFailedError(
    'sharing-not-declared',
    `workspace "${workspace}" names a namespace, which sessions of one object would share`,
    { hint: 'An operator must set shareAcrossSessions: true next to it, or leave it out.' },
  )
}
