import { readdirSync, readFileSync } from 'node:fs'

/** The ids of the workerd processes that this process started. */
export function workerdChildren(): string[] {
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name) && isWorkerdChild(name))
}

/** Whether a process is a workerd that this process started. */
export function isWorkerdChild(pid: string): boolean {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    return status.startsWith('Name:\tworkerd') && status.includes(`\nPPid:\t${process.pid}\n`)
  } catch {
    // Ended by now.
    return false
  }
}
