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

/** How long a look may hold the event loop before others get their turn. */
const SLICE_MS = 5
/** Processes that may have come during a look; with more of them it is not complete. */
const MAX_RANGE = 256

/** A living process, as a look found it. */
export interface SeenProcess extends ProcessEntry {
  /** Values of its marker variable; undefined while it replaces its program. */
  readonly markers: readonly string[] | undefined
  /** Host paths of its two outputs. */
  readonly outputs: readonly string[]
  /** Host path of its working directory. */
  readonly cwd: string | undefined
}

/** The processes of the host at one time. */
export interface ProcessLook {
  readonly processes: readonly SeenProcess[]
  /** False when processes came faster than they could be looked at. */
  readonly isComplete: boolean
}

let current: Promise<unknown> = Promise.resolve()
let next: Promise<ProcessLook> | undefined

/**
 * Looks at all processes of the host, in slices. Whoever asks before a look begins shares it:
 * it never shows a state older than the question.
 */
export function lookAtProcesses(): Promise<ProcessLook> {
  next ??= lookAfter(current)
  return next
}

async function lookAfter(earlier: Promise<unknown>): Promise<ProcessLook> {
  await Promise.allSettled([earlier])
  const newest = newestPid()
  current = next ?? Promise.resolve()
  next = undefined
  return lookAt(allPids(), newest)
}

/** Looks at all processes of the host in one turn, which may take long on a busy one. */
export function lookNow(): ProcessLook {
  const newest = newestPid()
  const processes: SeenProcess[] = []
  for (const pid of allPids()) see(pid, processes)
  const isComplete = newest === undefined || visitNewer(newest, (pid) => see(pid, processes))
  return { processes, isComplete }
}

/** Looks at the processes that came after one, without a pause; undefined when they are many. */
export function lookAtNewer(than: number): ProcessLook | undefined {
  const count = (newestPid() ?? -1) - than
  if (count < 0 || count > MAX_RANGE) return undefined
  const processes: SeenProcess[] = []
  const isComplete = visitNewer(than - 1, (pid) => see(pid, processes))
  return { processes, isComplete }
}

/**
 * Looks at some processes, and then at those that came after `newest`: one that was there may
 * have ended while others were looked at, and have left the next one.
 */
async function lookAt(pids: readonly number[], newest: number | undefined): Promise<ProcessLook> {
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
