import { readdirSync, readFileSync } from 'node:fs'
import { killOne } from '../child-groups.ts'

/** Whether a process runs; one that only waits to be collected does not. */
export function isRunning(pid: number): boolean {
  const fields = statFields(pid)
  return fields !== undefined && fields.state !== 'Z'
}

/** Kills a process and everything that descends from it. */
export function killTree(root: number): void {
  const parents = new Map<number, number[]>()
  for (const name of readdirSync('/proc')) {
    const pid = Number(name)
    const parent = Number.isNaN(pid) ? undefined : statFields(pid)?.parent
    if (parent !== undefined) parents.set(parent, [...(parents.get(parent) ?? []), pid])
  }
  const found = [root]
  // Grows while it is walked.
  for (const pid of found) found.push(...(parents.get(pid) ?? []))
  for (const pid of found) killOne(pid)
}

function statFields(pid: number): { readonly state: string; readonly parent: number } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name before it is in brackets and may hold anything.
    const [state = '', parent] = text.slice(text.lastIndexOf(')') + 2).split(' ')
    return { state, parent: Number(parent) }
  } catch {
    // Ended.
    return undefined
  }
}
