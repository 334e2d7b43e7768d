import { readdirSync, readlinkSync } from 'node:fs'

/** Descriptors of this process that are of a path, or that lead below it. */
export function openFilesOf(path: string): number {
  return readdirSync('/proc/self/fd').filter((fd) => {
    // A pipe of ours has lost its name.
    const target = targetOf(fd).replace(/ \(deleted\)$/, '')
    return target === path || target.startsWith(`${path}/`)
  }).length
}

/** Empty for that of the directory which was read. */
function targetOf(fd: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`)
  } catch {
    return ''
  }
}
