import type { Clock } from '@helix-agents/core'
import { membersOf } from '../workspace-directory.ts'
import { DirectorySnapshotStore } from './store/directory-snapshot-store.ts'

/** Which snapshots are looked for, and which of them go. */
export interface ReapLinesOptions {
  readonly tmpdirRoot: string
  readonly directory: string
  readonly clock: Clock
  /** How long nothing was stored, in milliseconds. */
  readonly graceMs: number
  readonly isDryRun: boolean
}

/**
 * Removes the snapshots of which no workspace is left, as when its process was killed while it was
 * closed.
 * @returns the scopes.
 */
export async function reapLines(options: ReapLinesOptions): Promise<readonly string[]> {
  const { tmpdirRoot, directory, clock, graceMs, isDryRun } = options
  const store = new DirectorySnapshotStore({ directory, clock })
  const removed: string[] = []
  for (let after: string | undefined, isMore = true; isMore;) {
    const page = await store.listScopes({ limit: 1000, ...(after !== undefined && { after }) })
    for (const scope of page.items) {
      const isUsed = membersOf(tmpdirRoot, scope).length > 0
      if (isUsed || clock.now() - store.lastChangeMs(scope) < graceMs) continue
      if (!isDryRun) await store.deleteScope(scope)
      removed.push(scope)
    }
    after = page.next
    isMore = after !== undefined
  }
  if (!isDryRun) await store.deleteLeftovers(graceMs)
  return removed
}
