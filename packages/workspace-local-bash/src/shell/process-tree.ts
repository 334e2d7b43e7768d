import { systemClock } from '@helix-agents/core'
import { endGroup } from './process-group.ts'
import {
  allPids,
  hasInEnvironment,
  isEnded,
  listsProcesses,
  newestPid,
  placesOf,
  type ProcessEntry,
  readProcess,
} from './process-table.ts'

/** Name of the variable by which a process says which command it belongs to. */
export const MARKER_VARIABLE = 'HELIX_WS_PROCESS'

const KILL_ROUNDS = 400
const CLEAN_LOOKS = 2
const POLL_MS = 5
const MAX_RANGE = 256
const QUICK_MS = 500

/** How to recognise the processes of one command, or of a whole workspace. */
export interface TreeScope {
  /** Start of the value of the marker variable. */
  readonly marker: string
  /** The process that was started, leader of its own session. */
  readonly leader?: number
  /** Start of host paths of pipes; who writes its output to one belongs. */
  readonly places: readonly string[]
}

/**
 * The living processes of a scope: those that carry its marker, sit in the session or group of
 * its leader, hold its pipes, or descend from one of these. So a process that forked twice, made
 * a session of its own and ignores every signal is still found; only one that at the same time
 * clears its environment and closes its outputs is not.
 */
export function findMembers(scope: TreeScope, pids: readonly number[] = allPids()): number[] {
  const living = pids.flatMap((pid) => {
    const entry = readProcess(pid)
    return entry === undefined || isEnded(entry) ? [] : [entry]
  })
  const members = new Set(living.filter((entry) => belongs(entry, scope)).map(({ pid }) => pid))
  for (let before = -1; before !== members.size;) {
    before = members.size
    for (const { pid, parent } of living) if (members.has(parent)) members.add(pid)
  }
  return [...members]
}

function belongs(entry: ProcessEntry, scope: TreeScope): boolean {
  const { leader } = scope
  if (leader !== undefined && [entry.pid, entry.group, entry.session].includes(leader)) return true
  if (hasInEnvironment(entry.pid, `${MARKER_VARIABLE}=${scope.marker}`)) return true
  const held = placesOf(entry.pid, ['fd/1', 'fd/2'])
  return held.some((place) => scope.places.some((start) => place.startsWith(start)))
}

/**
 * What a command left behind when it ended by itself. Ids are given out in order, so after a
 * quick command only the few newest have to be looked at.
 */
export function findLeftovers(scope: TreeScope, leader: number, durationMs: number): number[] {
  const newest = newestPid()
  if (newest === undefined || durationMs > QUICK_MS) return findMembers(scope)
  const count = newest - leader
  if (count < 0 || count > MAX_RANGE) return findMembers(scope)
  return findMembers(
    scope,
    Array.from({ length: count }, (_, index) => leader + 1 + index),
  )
}

/**
 * Ends all processes of a scope: asks them to, then kills until none is left.
 * @param graceMs Time between asking and killing; 0 kills at once.
 * @returns the processes that cannot be killed.
 */
export async function endTree(scope: TreeScope, graceMs: number): Promise<readonly number[]> {
  if (!listsProcesses) return scope.leader === undefined ? [] : endGroup(scope.leader, graceMs)
  if (graceMs > 0) await askToEnd(scope, graceMs)
  let members: readonly number[] = []
  // A process shows no environment while it starts a program: one clean look is not enough.
  for (let round = 0, clean = 0; clean < CLEAN_LOOKS && round < KILL_ROUNDS; round += 1) {
    if (round > 0) await systemClock.sleep(POLL_MS)
    members = findMembers(scope)
    signalAll(members, 'SIGKILL')
    clean = members.length === 0 ? clean + 1 : 0
  }
  return members
}

async function askToEnd(scope: TreeScope, graceMs: number): Promise<void> {
  const untilMs = performance.now() + graceMs
  signalAll(findMembers(scope), 'SIGTERM')
  while (performance.now() < untilMs) {
    await systemClock.sleep(POLL_MS)
    if (findMembers(scope).length === 0) return
  }
}

function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal)
    } catch {
      // Ended on its own, or is not ours to signal: the next look decides.
      continue
    }
  }
}
