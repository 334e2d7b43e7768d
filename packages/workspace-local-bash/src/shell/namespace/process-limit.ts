import { release } from 'node:os'

/** Processes and threads that one command may have at once. */
export const DEFAULT_MAX_PROCESSES = 2048
/** The system accepts no lower one for a namespace. */
export const MIN_PROCESSES = 301

/** A line of a shell script that limits the processes of the namespace in which it runs. */
export type ProcessLimit = (max: number) => string

/** The lines that may work here, for a namespace that this user makes. */
export function processLimits(isRoot: boolean, kernel = release()): readonly ProcessLimit[] {
  // Of root the system counts no processes: a namespace can only run out of their ids.
  if (isRoot) return isAtLeast(kernel, 6, 14) ? [limitIds] : []
  // Earlier ones count all processes of the user on the host.
  return isAtLeast(kernel, 5, 14) ? [limitUser] : []
}

/** Before 6.14 this is a setting of the whole host. */
const limitIds: ProcessLimit = (max) => `echo ${max} > /proc/sys/kernel/pid_max`

/** Some shells have one name for it, some the other. */
const limitUser: ProcessLimit = (max) => `ulimit -u ${max} || ulimit -p ${max}`

/** Words that print the limits which `isInForce` reads. */
export const PRINT_LIMITS =
  'cat /proc/sys/kernel/pid_max; while read -r line; do case $line in "Max processes"*) echo "$line";; esac; done < /proc/self/limits'

/** Whether one of the limits that were printed is that of the default. */
export function isInForce(printed: readonly string[]): boolean {
  const [ids, user = ''] = printed
  const most = /^Max processes\s+(\d+)/.exec(user)?.[1]
  return [ids, most].includes(String(DEFAULT_MAX_PROCESSES))
}

function isAtLeast(kernel: string, major: number, minor: number): boolean {
  const [first = 0, second = 0] = kernel.split(/[.-]/).map(Number)
  return first > major || (first === major && second >= minor)
}
