import { readdirSync, readlinkSync } from 'node:fs'

/** The descriptors of this process that are of a path, gone or not, or of what lies below it. */
export function descriptorsOf(path: string): readonly string[] {
  return readdirSync('/proc/self/fd').filter((fd) => {
    const target = targetOf(fd)
    return [path, `${path} (deleted)`].includes(target) || target.startsWith(`${path}/`)
  })
}

/** Empty for one that is closed meanwhile, as that of the listing itself. */
function targetOf(fd: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`)
  } catch {
    return ''
  }
}
