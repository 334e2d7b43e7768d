import { readdirSync, readlinkSync } from 'node:fs'

/** Descriptors of this process that lead below a directory. */
export function openFilesBelow(directory: string): number {
  return readdirSync('/proc/self/fd').filter((fd) => leadsBelow(directory, fd)).length
}

function leadsBelow(directory: string, fd: string): boolean {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`).startsWith(`${directory}/`)
  } catch {
    // That of the directory which was read.
    return false
  }
}
