import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  allPids,
  isEnded,
  markersOf,
  newestPid,
  placesOf,
  type ProcessEntry,
  readProcess,
} from './process-table.ts'

/** How long a scan may hold the event loop before it yields, in milliseconds. */
const SLICE_MS = 5
/** Processes that may have come during a scan; with more of them it is incomplete. */
const MAX_RANGE = 256

/** A living process, as a scan found it. */
export interface SeenProcess extends ProcessEntry {
  /** Values of its marker variable; undefined while it replaces its program. */
  readonly markers: readonly string[] | undefined
  /** Host paths of its two outputs. */
  readonly outputs: readonly string[]
  /** Host path of its working directory. */
  readonly cwd: string | undefined
}

/** The processes of the host at one time. */
export interface ProcessScan {
  readonly processes: readonly SeenProcess[]
  /** False when processes came faster than they could be looked at. */
  readonly isComplete: boolean
}

let current: Promise<unknown> = Promise.resolve()
let next: Promise<ProcessScan> | undefined

/**
 * Scans all processes of the host, in slices. Callers that ask before a scan begins share it: the
 * result is never older than the call.
 */
export function scanProcesses(): Promise<ProcessScan> {
  next ??= scanAfter(current)
  return next
}

async function scanAfter(earlier: Promise<unknown>): Promise<ProcessScan> {
  await Promise.allSettled([earlier])
  const newest = newestPid()
  current = next ?? Promise.resolve()
  next = undefined
  return scanPids(allPids(), newest)
}

/** Scans all processes of the host in one turn, which may take long on a busy one. */
export function scanNow(): ProcessScan {
  const newest = newestPid()
  const processes: SeenProcess[] = []
  for (const pid of allPids()) see(pid, processes)
  const isComplete = newest === undefined || visitNewer(newest, (pid) => see(pid, processes))
  return { processes, isComplete }
}

/** Scans the processes that are newer than one, without a pause; undefined when they are many. */
export function scanNewer(than: number): ProcessScan | undefined {
  const count = (newestPid() ?? -1) - than
  if (count < 0 || count > MAX_RANGE) return undefined
  const processes: SeenProcess[] = []
  const isComplete = visitNewer(than - 1, (pid) => see(pid, processes))
  return { processes, isComplete }
}

/**
 * Scans some processes, and then those that are newer than `newest`: one that was there may
 * have ended while others were looked at, and have left the next one.
 */
async function scanPids(pids: readonly number[], newest: number | undefined): Promise<ProcessScan> {
  const processes: SeenProcess[] = []
  let sliceMs = performance.now()
  for (const pid of pids) {
    see(pid, processes)
    if (performance.now() - sliceMs < SLICE_MS) continue
    await nextTurn()
    sliceMs = performance.now()
  }
  const isComplete = newest === undefined || visitNewer(newest, (pid) => see(pid, processes))
  return { processes, isComplete }
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

function see(pid: number, into: SeenProcess[]): void {
  const entry = readProcess(pid)
  if (entry === undefined || isEnded(entry)) return
  const markers = markersOf(pid)
  const outputs = placesOf(pid, ['fd/1', 'fd/2'])
  into.push({ ...entry, markers, outputs, cwd: placesOf(pid, ['cwd'])[0] })
}
