import { readdirSync, readFileSync } from 'node:fs'

/** The ids of the workerd processes that this process started. */
export function workerdChildren(): string[] {
  return childIds().filter(isWorkerdChild)
}

/** Ids of the children; where the system does not list them, of all processes. */
function childIds(): string[] {
  try {
    return readdirSync('/proc/self/task').flatMap((task) =>
      readFileSync(`/proc/self/task/${task}/children`, 'utf8').split(' ').filter(Boolean),
    )
  } catch {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  }
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
