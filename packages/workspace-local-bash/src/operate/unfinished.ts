import { lstatSync, readdirSync, rmdirSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { MARKER_NAME } from '../owner.ts'
import { holdersOf } from '../shell/processes/holders.ts'
import { findMembers } from '../shell/processes/process-tree.ts'

const DRAFT = new RegExp(String.raw`^${MARKER_NAME.replace('.', String.raw`\.`)}\.[0-9a-f]{32}$`)
const PARTS: readonly string[] = ['root', 'scratch', 'tmp']

/**
 * Whether a directory holds nothing but what making a workspace leaves when its process dies
 * half-way: empty parts, and a marker that never got its name or its content.
 */
export function isUnfinished(path: string): boolean {
  return readdirSync(path).every((name) => {
    const stats = lstatSync(join(path, name), { throwIfNoEntry: false })
    if (stats === undefined) return true
    if (PARTS.includes(name)) return stats.isDirectory() && readdirSync(join(path, name)).length < 1
    return stats.isFile() && (DRAFT.test(name) || (name === MARKER_NAME && stats.size === 0))
  })
}

/** Whether a process works in a directory, or was started for the workspace of this name. */
export function isHeld(path: string, workspace: string): boolean {
  if (findMembers({ marker: `${workspace}:`, places: [] }).length > 0) return true
  return holdersOf(path).length > 0
}

/** When something was last added to it or taken from it, in whole milliseconds as clocks have them. */
export function lastChangeMs(path: string): number {
  const times = [path, ...readdirSync(path).map((name) => join(path, name))].map(
    (part) => lstatSync(part, { throwIfNoEntry: false })?.mtimeMs ?? 0,
  )
  return Math.floor(Math.max(...times))
}

/** Removes it without recursion: an entry that was added by now stops the removal. */
export function removeUnfinished(path: string): void {
  for (const name of readdirSync(path)) {
    const part = join(path, name)
    if (PARTS.includes(name)) rmdirSync(part)
    else unlinkSync(part)
  }
  rmdirSync(path)
}
