import { systemClock } from '@helix-agents/core'
import { errnoOf } from '../../file-system/map-error.ts'

const POLL_MS = 5
const KILL_MS = 1000

/**
 * Ends a process group, for hosts that do not list their processes (macOS): what left the group
 * with a session of its own is not found there.
 * @param graceMs Time between asking and killing; 0 kills at once.
 * @returns the leader when the group cannot be killed.
 */
export async function endGroup(leader: number, graceMs: number): Promise<readonly number[]> {
  if (graceMs > 0 && (await signalUntilGone(leader, 'SIGTERM', graceMs))) return []
  return (await signalUntilGone(leader, 'SIGKILL', KILL_MS)) ? [] : [leader]
}

async function signalUntilGone(
  leader: number,
  signal: NodeJS.Signals,
  timeMs: number,
): Promise<boolean> {
  const untilMs = performance.now() + timeMs
  if (!signalGroup(leader, signal)) return true
  while (performance.now() < untilMs) {
    await systemClock.sleep(POLL_MS)
    if (!signalGroup(leader, 0)) return true
  }
  return false
}

/** False when the group has no process left. */
function signalGroup(leader: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-leader, signal)
  } catch (error) {
    if (errnoOf(error) === 'ESRCH') return false
    // Only zombies are left (macOS).
    if (errnoOf(error) === 'EPERM') return false
    throw error
  }
}
