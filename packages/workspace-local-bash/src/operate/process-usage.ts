import { readFileSync } from 'node:fs'

/**
 * What processes have used of the processors, in ticks: a hundred a second in `/proc`, whatever the kernel
 * uses, so that ticks a second are percent of one core.
 */
export function ticksOf(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => {
    const [, user = 0, kernel = 0] = TIMES.exec(readProc(pid, 'stat')) ?? []
    return sum + Number(user) + Number(kernel)
  }, 0)
}

/** Resident memory of processes, in units of 1,024 bytes. */
export function residentKb(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => {
    const [, kb = 0] = /^VmRSS:\s+(\d+) kB$/m.exec(readProc(pid, 'status')) ?? []
    return sum + Number(kb)
  }, 0)
}

/** Time in user and kernel mode: 11 fields after the state, behind a name that may hold anything. */
const TIMES = /.*\)(?: \S+){11} (\d+) (\d+)/s

/** Processes end while they are looked at: they use nothing then. */
function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1')
  } catch {
    return ''
  }
}
