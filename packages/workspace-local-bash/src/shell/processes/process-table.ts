import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { errnoOf } from '../../file-system/map-error.ts'

/** Name of the variable by which a process says which command it belongs to. */
export const MARKER_VARIABLE = 'HELIX_WS_PROCESS'

/** Whether the host lists its processes in `/proc`; macOS does not. */
export const listsProcesses = existsSync('/proc/self/stat')

/** One process of the host. */
export interface ProcessEntry {
  readonly pid: number
  readonly state: string
  readonly parent: number
  readonly group: number
  readonly session: number
  /** Clock ticks since the host started; with the pid, it names one process for ever. */
  readonly startTime: number
}

/** `PF_KTHREAD` of the kernel's include/linux/sched.h. */
const KERNEL_THREAD = 0x0020_0000

/**
 * The process with this id; undefined when there is none, the host does not tell, or it is a
 * thread of the kernel.
 */
export function readProcess(pid: number): ProcessEntry | undefined {
  const text = readProc(pid, 'stat')?.toString('latin1')
  if (text === undefined) return undefined
  // The name, in parentheses, may hold anything.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const [state, parent, group, session] = fields
  const startTime = Number(fields[19])
  if (state === undefined || Number.isNaN(startTime)) return undefined
  if ((Number(fields[6]) & KERNEL_THREAD) !== 0) return undefined
  return {
    pid,
    state,
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    startTime,
  }
}

/** Ended, but not yet fetched by its parent: it holds nothing any more. */
export function isEnded(entry: ProcessEntry): boolean {
  return entry.state === 'Z' || entry.state === 'X'
}

/**
 * The values of the marker variable that a process was started with; undefined while it is
 * replacing its program: until the new one is set up, it shows neither environment nor arguments.
 */
export function markersOf(pid: number): readonly string[] | undefined {
  const environment = readProc(pid, 'environ')
  if (environment === undefined || environment.length > 0) return markersIn(environment)
  if (readProc(pid, 'cmdline')?.length === 0) return undefined
  // It has arguments, so its environment is set up too: it may just have been.
  return markersIn(readProc(pid, 'environ'))
}

const MARKER_START = `${MARKER_VARIABLE}=`

function markersIn(environment: Buffer | undefined): string[] {
  if (environment === undefined || !environment.includes(MARKER_START)) return []
  return environment
    .toString('latin1')
    .split('\0')
    .filter((variable) => variable.startsWith(MARKER_START))
    .map((variable) => variable.slice(MARKER_START.length))
}

/** The ids of the living children of a process, those of all its threads. */
export function childrenOf(pid: number): number[] {
  return namesIn(`/proc/${pid}/task`).flatMap((thread) =>
    (readProc(pid, `task/${thread}/children`)?.toString('latin1') ?? '')
      .split(' ')
      .filter((id) => id !== '')
      .map(Number),
  )
}

/** Whether a signal found no process, or one that is not ours to signal. */
export function isGone(error: unknown): boolean {
  return errnoOf(error) === 'ESRCH' || errnoOf(error) === 'EPERM'
}

/** Where its working directory and its first descriptors lead. */
export function placesOf(pid: number, names: readonly string[]): string[] {
  return names.flatMap((name) => {
    try {
      return [readlinkSync(`/proc/${pid}/${name}`)]
    } catch {
      return []
    }
  })
}

/** Every descriptor of a process, as names for `placesOf`. */
export function descriptorsOf(pid: number): string[] {
  return namesIn(`/proc/${pid}/fd`).map((fd) => `fd/${fd}`)
}

/** All process ids but our own; empty where the host does not tell. */
export function allPids(): number[] {
  return namesIn('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && pid !== process.pid)
}

/** The id given to the newest process of the host. */
export function newestPid(): number | undefined {
  try {
    const pid = Number(readFileSync('/proc/loadavg', 'latin1').trim().split(' ').at(-1))
    return Number.isInteger(pid) ? pid : undefined
  } catch {
    return undefined
  }
}

/** Identity of the running system: it changes with every start of the host. */
export function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()
  } catch {
    return 'unknown'
  }
}

/** Where process ids mean what they mean here: a container has a table of its own. */
export function processPlace(): string {
  return `${hostname()} ${processNamespace()}`
}

function processNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid')
  } catch {
    return 'unknown'
  }
}

/** Processes come and go while they are looked at: nothing is the answer then. */
function namesIn(path: string): string[] {
  try {
    return readdirSync(path)
  } catch {
    return []
  }
}

function readProc(pid: number, file: string): Buffer | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`)
  } catch {
    return undefined
  }
}
