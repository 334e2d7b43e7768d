import type { ReapOptions, ReapReport } from './operate/reap.ts'

/**
 * Removes the directories that crashed processes left. Removed are only directories named like
 * workspaces, owned by this user, with a valid owner marker, whose owner does not run any more,
 * and which were not used for the grace period. Links are never followed. Processes that the
 * workspace left behind are ended first.
 *
 * A workspace that was detached waits longer, since its session may be resumed, and so does one of
 * another container or host that shares the directory: its owner may run. A directory whose
 * process died before it had a marker waits a day, and goes only when it is empty.
 */
export async function reapLocalBashTmpdirs(options: ReapOptions = {}): Promise<ReapReport> {
  const { reapTmpdirs } = await import('./operate/reap.ts')
  return reapTmpdirs(options)
}
