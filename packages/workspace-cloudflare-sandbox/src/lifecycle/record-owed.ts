import { HelixError, type Logger } from '@helix-agents/core'
import { logMessages } from '@helix-agents/core/provider'
import type { SandboxDirectory, SandboxDirectoryEntry } from './sandbox-directory.ts'

interface OwedRecord {
  readonly directory?: SandboxDirectory | undefined
  readonly record: SandboxDirectoryEntry
}

/**
 * Records an end that is not confirmed. That it is owed matters more than a directory that cannot be
 * reached, which is logged.
 */
export async function recordOwed(
  { directory, record }: OwedRecord,
  cause: unknown,
  logger: Logger,
): Promise<void> {
  try {
    await directory?.recordDestroyFailed(record, cause)
  } catch (err) {
    const code = HelixError.isInstance(err) ? err.code : undefined
    const { session, workspace } = record
    logger.error({ workspace, sessionId: session.sessionId, code, err }, logMessages.closeFailed)
  }
}
