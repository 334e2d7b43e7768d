import { isGone } from './process-table.ts'

const ROUNDS = 20
/** More than this are not asked to end: they are killed. */
const MAX_ASKED = 2000

/** Sends a signal to a process; what is gone or not ours is passed over. */
export type SendSignal = (pid: number, signal: NodeJS.Signals) => void

/**
 * Asks a tree of processes to end, all at once: none runs while others are asked. A shell whose
 * child ended first would go on to its next command.
 * @param find The processes now, parents before their children: a stopped child can wake its parent.
 */
export async function askAllToEnd(
  find: () => Promise<readonly number[]>,
  send: SendSignal = sendSignal,
): Promise<void> {
  const frozen = new Set<number>()
  try {
    // What runs while others are stopped may start more: until a scan finds nothing new.
    for (let round = 0, before = -1; before !== frozen.size && round < ROUNDS; round += 1) {
      before = frozen.size
      const seen = await find()
      for (const pid of newOnes(seen, frozen)) {
        frozen.add(pid)
        send(pid, 'SIGSTOP')
      }
    }
    for (const pid of frozen) send(pid, 'SIGTERM')
  } finally {
    for (const pid of frozen) send(pid, 'SIGCONT')
  }
}

function newOnes(seen: readonly number[], frozen: ReadonlySet<number>): number[] {
  return seen.filter((pid) => !frozen.has(pid)).slice(0, MAX_ASKED - frozen.size)
}

/** Sends a signal; a process that ended on its own, or is not ours, gets none. */
export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if (!isGone(error)) throw error
  }
}
