import { systemClock } from '@helix-agents/core'
import { askAllToEnd, sendSignal } from './freeze.ts'
import { endGroup } from './process-group.ts'
import {
  scanNewer,
  scanProcesses,
  scanNow,
  type ProcessScan,
  type SeenProcess,
} from './process-scan.ts'
import { listsProcesses, readProcess } from './process-table.ts'

const KILL_ROUNDS = 400
const CLEAN_SCANS = 2
const UNCLEAR_ROUNDS = 20
const POLL_MS = 5
const QUICK_MS = 500

/** How to recognise the processes of one command, or of a whole workspace. */
export interface TreeScope {
  /** Start of the value of the marker variable. */
  readonly marker: string
  /** The process that was started, leader of its own session. */
  readonly leader?: number
  /** Start of host paths of pipes; who writes its output to one belongs. */
  readonly places: readonly string[]
  /** Host path of a directory that no other command uses, while that is so. */
  directory?(): string | undefined
  /** Only who started at this time or later is a stray, in clock ticks of the host. */
  readonly sinceTicks?: number
}

/** The result of one scan of the host's processes for a scope. */
interface Members {
  /** Parents before their children. */
  readonly pids: readonly number[]
  /** Whether a process could not be identified, because it was just starting a program. */
  readonly isUnclear: boolean
}

/**
 * The living processes of a scope: those that carry its marker, sit in the session or group of
 * its leader, hold its pipes, descend from one of these, or are strays (see `createStrayTest`).
 * So a process that forked twice, made a session of its own and ignores every signal is still
 * found; only one that at the same time clears its environment, closes its outputs and leaves the
 * directory is not.
 */
export function findMembers(scope: TreeScope): readonly number[] {
  return membersOf(scanNow(), scope).pids
}

/** The same without holding the event loop. */
async function scanForMembers(scope: TreeScope): Promise<Members> {
  return membersOf(await scanProcesses(), scope)
}

/**
 * Whether a command that ended by itself may have left something behind. Ids are given out in
 * order, so after a quick command only the newest have to be looked at.
 */
export async function mayHaveLeftovers(scope: TreeScope, durationMs: number): Promise<boolean> {
  const isQuick = scope.leader !== undefined && durationMs <= QUICK_MS
  const newer = isQuick ? scanNewer(scope.leader) : undefined
  const { pids, isUnclear } = newer ? membersOf(newer, scope) : await scanForMembers(scope)
  return isUnclear || pids.length > 0
}

function membersOf(scan: ProcessScan, scope: TreeScope): Members {
  const { processes } = scan
  const isStray = createStrayTest(scope)
  const members = new Set(
    processes.filter((seen) => belongs(seen, scope) || isStray(seen)).map(({ pid }) => pid),
  )
  for (let before = -1; before !== members.size;) {
    before = members.size
    for (const { pid, parent } of processes) if (members.has(parent)) members.add(pid)
  }
  const isUnclear = processes.some(({ markers, pid }) => markers === undefined && !members.has(pid))
  return { pids: parentsFirst(processes, members), isUnclear: isUnclear || !scan.isComplete }
}

function belongs(seen: SeenProcess, { leader, marker, places }: TreeScope): boolean {
  if (leader !== undefined && [seen.pid, seen.group, seen.session].includes(leader)) return true
  if (seen.markers?.some((value) => value.startsWith(marker)) === true) return true
  return seen.outputs.some((place) => places.some((start) => place.startsWith(start)))
}

/**
 * Detects strays: a stray cleared its environment and closed its outputs, but stayed in the
 * directory. It is an orphan, bears no marker, and began after the command: not an editor or a
 * terminal of the user.
 */
function createStrayTest(scope: TreeScope): (seen: SeenProcess) => boolean {
  const directory = scope.directory?.()
  if (directory === undefined) return () => false
  const adopters = ancestorsOfThisProcess()
  return ({ cwd, markers, parent, startTime }) => {
    if (cwd === undefined || markers?.length !== 0 || !adopters.has(parent)) return false
    const isInside = cwd === directory || cwd.startsWith(`${directory}/`)
    return isInside && startTime >= (scope.sinceTicks ?? 0)
  }
}

/** One of these becomes the parent of a process whose own parent ended. */
function ancestorsOfThisProcess(): ReadonlySet<number> {
  const found = new Set([1])
  for (let pid = process.ppid; pid > 1 && !found.has(pid); pid = readProcess(pid)?.parent ?? 1) {
    found.add(pid)
  }
  return found
}

function parentsFirst(processes: readonly SeenProcess[], members: ReadonlySet<number>): number[] {
  const children = new Map<number, number[]>()
  const sorted: number[] = []
  for (const { pid, parent } of processes) {
    if (!members.has(pid)) continue
    if (!members.has(parent)) sorted.push(pid)
    else children.set(parent, [...(children.get(parent) ?? []), pid])
  }
  // It grows while it is walked.
  for (const pid of sorted) sorted.push(...(children.get(pid) ?? []))
  // Ids that were reused during a scan may form a cycle: none of it is lost.
  return [...new Set([...sorted, ...members])]
}

/**
 * Ends all processes of a scope: asks them to, then kills until none is left.
 * @param graceMs Time between asking and killing; 0 kills at once.
 * @returns the processes that cannot be killed.
 */
export async function endTree(scope: TreeScope, graceMs: number): Promise<readonly number[]> {
  if (!listsProcesses) return scope.leader === undefined ? [] : endGroup(scope.leader, graceMs)
  if (graceMs > 0) await askToEnd(scope, graceMs)
  return killAll(scope)
}

async function killAll(scope: TreeScope): Promise<readonly number[]> {
  let pids: readonly number[] = []
  // A process may end between two scans and leave the next one, which neither saw.
  for (let round = 0, clean = 0; clean < CLEAN_SCANS && round < KILL_ROUNDS; round += 1) {
    if (round > 0) await systemClock.sleep(POLL_MS)
    const seen = await scanForMembers(scope)
    pids = seen.pids
    for (const pid of pids) sendSignal(pid, 'SIGKILL')
    // On a busy host some stranger is always starting a program.
    const isClean = pids.length === 0 && (!seen.isUnclear || round >= UNCLEAR_ROUNDS)
    clean = isClean ? clean + 1 : 0
  }
  return pids
}

async function askToEnd(scope: TreeScope, graceMs: number): Promise<void> {
  const untilMs = performance.now() + graceMs
  await askAllToEnd(async () => (await scanForMembers(scope)).pids)
  while (performance.now() < untilMs) {
    await systemClock.sleep(POLL_MS)
    if ((await scanForMembers(scope)).pids.length === 0) return
  }
}
