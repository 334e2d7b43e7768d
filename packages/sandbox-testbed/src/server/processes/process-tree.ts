import { readdirSync, readFileSync } from 'node:fs'
import { killOne } from '../child-groups.ts'

/** Whether a process runs; one that only waits to be collected does not. */
export function isRunning(pid: number): boolean {
  const fields = statFields(pid)
  return fields !== undefined && fields.state !== 'Z'
}

/** How long the real server waits between SIGTERM and SIGKILL. */
const GRACE_MS = 5000

/** Asks a process and everything that descends from it to end; kills what is left 5 s later. */
export function endTree(root: number): void {
  // Everything descends from the first process.
  if (!Number.isSafeInteger(root) || root < 2) return
  const asked = treeOf(root).map((pid) => ({ pid, born: statFields(pid)?.born }))
  for (const { pid } of asked) killOne(pid, 'SIGTERM')
  const kill = (): void => {
    for (const { pid, born } of asked) {
      if (born !== undefined && statFields(pid)?.born === born) killOne(pid)
    }
  }
  setTimeout(kill, GRACE_MS).unref()
}

function treeOf(root: number): readonly number[] {
  const parents = new Map<number, number[]>()
  for (const name of readdirSync('/proc')) {
    const pid = Number(name)
    const parent = Number.isNaN(pid) ? undefined : statFields(pid)?.parent
    if (parent !== undefined) parents.set(parent, [...(parents.get(parent) ?? []), pid])
  }
  const found = [root]
  // Grows while it is walked.
  for (const pid of found) found.push(...(parents.get(pid) ?? []))
  return found
}

interface StatFields {
  readonly state: string
  readonly parent: number
  /** When it was started: distinguishes processes of the same id. */
  readonly born: string
}

function statFields(pid: number): StatFields | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name before it is in brackets and may hold anything.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    return { state: fields[0] ?? '', parent: Number(fields[1]), born: fields[19] ?? '' }
  } catch {
    // Ended.
    return undefined
  }
}
