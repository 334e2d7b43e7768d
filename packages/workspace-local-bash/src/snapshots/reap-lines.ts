import type { Clock } from '@helix-agents/core'
import { workspacesIn } from '../workspace-directory.ts'
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
 * Removes the snapshots of which no workspace is left and that none keeps, as when its process was killed while it was
 * closed.
 * @returns the scopes.
 */
export async function reapLines(options: ReapLinesOptions): Promise<readonly string[]> {
  const { tmpdirRoot, directory, clock, graceMs, isDryRun } = options
  const store = new DirectorySnapshotStore({ directory, clock })
  const used = new Set(workspacesIn(tmpdirRoot).map(({ marker }) => marker.line))
  const removed: string[] = []
  for await (const scope of store.scopes()) {
    if (used.has(scope) || clock.now() - store.lastChangeMs(scope) < graceMs) continue
    if (await hasKept(store, scope)) continue
    if (!isDryRun) await store.deleteScope(scope)
    removed.push(scope)
  }
  if (!isDryRun) await store.deleteLeftovers(graceMs)
  return removed
}

async function hasKept(store: DirectorySnapshotStore, scope: string): Promise<boolean> {
  for await (const { kept } of store.manifests(scope)) if (kept === true) return true
  return false
}
