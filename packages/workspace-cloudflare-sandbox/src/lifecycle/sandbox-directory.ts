import type { SessionRef } from '@helix-agents/core/provider'

/** A sandbox that the platform runs, or is about to. */
export interface SandboxDirectoryEntry {
  readonly sandboxId: string
  readonly session: SessionRef
  /** Name under which the agent declares the workspace. */
  readonly workspace: string
  /** It belongs to several sessions. */
  readonly isShared: boolean
}

/**
 * Knows every sandbox there is. The platform lists none, and asking for an unknown one makes it,
 * so leftovers can be found only when every open is recorded. A fleet implements it.
 */
export interface SandboxDirectory {
  /**
   * Awaited before the first contact with a sandbox, at each open and resolve. When it throws, the
   * sandbox is not made.
   */
  recordOpening(record: SandboxDirectoryEntry): Promise<void>
  /** The platform has confirmed the end. */
  recordDestroyed(record: SandboxDirectoryEntry): Promise<void>
  /** The end was asked for and is not confirmed: it is owed. */
  recordDestroyFailed(record: SandboxDirectoryEntry, cause: unknown): Promise<void>
}
