import { realpathSync } from 'node:fs'

/** Where programs are searched when nothing usable is named. */
export const FALLBACK_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/**
 * The entries of a `PATH` that lead to a fixed place outside a directory. An empty, `.` or other
 * relative entry means the working directory: a file that an agent wrote there would run in the
 * place of a program of that name.
 * @param outside No entry may lead to this directory or into it, links followed.
 */
export function fixedEntries(path: string, outside?: string): string[] {
  return path
    .split(':')
    .filter((entry) => entry.startsWith('/') && !(outside !== undefined && leadsTo(entry, outside)))
}

/** A `PATH` without the entries that `fixedEntries` leaves out. */
export function fixedPath(path: string, outside: string): string {
  return fixedEntries(path, outside).join(':') || FALLBACK_PATH
}

function leadsTo(entry: string, directory: string): boolean {
  return [entry, realPath(entry)].some(
    (path) => path === directory || path.startsWith(`${directory}/`),
  )
}

/** What is missing leads nowhere now; by its name it may later. */
function realPath(entry: string): string {
  try {
    return realpathSync(entry)
  } catch {
    return entry
  }
}
