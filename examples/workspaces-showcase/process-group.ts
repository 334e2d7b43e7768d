import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'

/** A process that was started `detached`, and all that it has started. */
export interface ProcessGroup {
  /** Of the leader. */
  readonly pid: number
  /** Settles when the leader has ended, however it did. */
  readonly exit: Promise<void>
  /** Lets it end by itself, then makes sure of the whole group. */
  stop(): Promise<void>
}

const STOP_MS = 5000
const running = new Set<number>()

// Whatever ends this process ends the groups that it has started.
process.once('exit', () => running.forEach(killGroup))

/** @throws {Error} when the process could not be started. */
export function superviseGroup(leader: ChildProcess): ProcessGroup {
  const { pid } = leader
  if (pid === undefined) throw new Error(`${leader.spawnfile} could not be started`)
  running.add(pid)
  const exit = once(leader, 'exit').then(() => endGroup(pid))
  const stop = async (): Promise<void> => {
    if (running.has(pid)) leader.kill('SIGINT')
    await Promise.race([exit, sleep(STOP_MS, undefined, { ref: false })])
    endGroup(pid)
  }
  return { pid, exit, stop }
}

function endGroup(pid: number): void {
  if (running.delete(pid)) killGroup(pid)
}

/**
 * SIGKILL to the leader and to all others, as a crash of the machine.
 * @throws {RangeError} for 0, 1 and what is no id: to the system these mean other processes.
 */
export function killGroup(pid: number): void {
  if (!Number.isSafeInteger(pid) || pid < 2) throw new RangeError(`${pid} leads no group of ours`)
  try {
    process.kill(-pid, 'SIGKILL')
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}
