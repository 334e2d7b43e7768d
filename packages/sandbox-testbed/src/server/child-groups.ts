/** The process groups that the server started, to be ended with it. */
export class ChildGroups {
  readonly #leaders = new Set<number>()

  /** Remembers a group until {@link forget}. */
  add(leader: number | undefined): void {
    if (leader !== undefined) this.#leaders.add(leader)
  }

  forget(leader: number | undefined): void {
    if (leader !== undefined) this.#leaders.delete(leader)
  }

  /** Kills every group that is still known. */
  killAll(): void {
    for (const leader of this.#leaders) killGroup(leader)
    this.#leaders.clear()
  }
}

/** Kills a process group; one that is gone already is fine. */
export function killGroup(leader: number): boolean {
  return sendKill(-leader)
}

/** Signals one process; one that is gone already is fine. */
export function killOne(pid: number, signal: NodeJS.Signals = 'SIGKILL'): boolean {
  return sendKill(pid, signal)
}

function sendKill(target: number, signal: NodeJS.Signals = 'SIGKILL'): boolean {
  // 0 means the own group, -1 everything: neither was ever a child.
  if (!Number.isSafeInteger(target) || Math.abs(target) < 2) return false
  try {
    return process.kill(target, signal)
  } catch {
    // Gone already, or never ours.
    return false
  }
}
