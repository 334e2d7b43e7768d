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
const UNCLEAR_ROUNDS = 20
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
export function findMembers(scope: TreeScope): number[] {
  return lookAtAll(scope).members
}

/** Whether processes of a scope live, or may: see `Look.isUnclear`. */
export function mayHaveMembers(scope: TreeScope): boolean {
  const { members, isUnclear } = lookAtAll(scope)
  return isUnclear || members.length > 0
}

/**
 * Whether a command that ended by itself may have left something behind. Ids are given out in
 * order, so after a quick command only the newest have to be looked at.
 */
export function mayHaveLeftovers(scope: TreeScope, leader: number, durationMs: number): boolean {
  const count = (newestPid() ?? -1) - leader
  if (durationMs > QUICK_MS || count < 0 || count > MAX_RANGE) return mayHaveMembers(scope)
  const { members, isUnclear } = look(scope, [], leader)
  return isUnclear || members.length > 0
}

/** What one look at the processes of the host tells about a scope. */
interface Look {
  readonly members: number[]
  /** Whether a process could not be told apart, because it was just starting a program. */
  readonly isUnclear: boolean
}

function lookAtAll(scope: TreeScope): Look {
  const newest = newestPid()
  return look(scope, allPids(), newest)
}

/**
 * Looks at some processes, and then at those that came after `newest`: one that was there may
 * have ended while others were looked at, and have left the next one.
 */
function look(scope: TreeScope, pids: readonly number[], newest: number | undefined): Look {
  const living: ProcessEntry[] = []
  const members = new Set<number>()
  const unclear: number[] = []
  const visit = (pid: number): void => {
    const entry = readProcess(pid)
    if (entry === undefined || isEnded(entry)) return
    living.push(entry)
    const isMember = belongs(entry, scope)
    if (isMember === undefined) unclear.push(pid)
    else if (isMember) members.add(pid)
  }
  for (const pid of pids) visit(pid)
  const isComplete = newest === undefined || visitNewer(newest, visit)
  for (let before = -1; before !== members.size;) {
    before = members.size
    for (const { pid, parent } of living) if (members.has(parent)) members.add(pid)
  }
  const isUnclear = !isComplete || unclear.some((pid) => !members.has(pid))
  return { members: [...members], isUnclear }
}

/** @returns false when new processes come faster than they can be looked at. */
function visitNewer(than: number, visit: (pid: number) => void): boolean {
  let last = than
  for (;;) {
    const newest = newestPid() ?? last
    if (newest < last || newest - than > MAX_RANGE) return false
    if (newest === last) return true
    for (let pid = last + 1; pid <= newest; pid += 1) if (pid !== process.pid) visit(pid)
    last = newest
  }
}

/** @returns undefined when it cannot be told yet. */
function belongs(entry: ProcessEntry, scope: TreeScope): boolean | undefined {
  const { leader } = scope
  if (leader !== undefined && [entry.pid, entry.group, entry.session].includes(leader)) return true
  const isMarked = hasInEnvironment(entry.pid, `${MARKER_VARIABLE}=${scope.marker}`)
  if (isMarked === true) return true
  const held = placesOf(entry.pid, ['fd/1', 'fd/2'])
  return held.some((place) => scope.places.some((start) => place.startsWith(start))) || isMarked
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
  // A process may end between two looks and leave the next one, which neither saw.
  for (let round = 0, clean = 0; clean < CLEAN_LOOKS && round < KILL_ROUNDS; round += 1) {
    if (round > 0) await systemClock.sleep(POLL_MS)
    const seen = lookAtAll(scope)
    members = seen.members
    signalAll(members, 'SIGKILL')
    // On a busy host some stranger is always starting a program.
    const isClean = members.length === 0 && (!seen.isUnclear || round >= UNCLEAR_ROUNDS)
    clean = isClean ? clean + 1 : 0
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
