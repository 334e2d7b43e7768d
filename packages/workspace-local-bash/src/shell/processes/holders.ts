import { allPids, descriptorsOf, placesOf } from './process-table.ts'

/** A process that uses something in a directory. */
export interface Holder {
  readonly pid: number
  /** Host paths: its working directory, program and open files. */
  readonly places: readonly string[]
}

const MAX_HOLDERS = 20
const MAX_PLACES = 5

/** The processes that hold a directory or something in it; for the log of the operator. */
export function holdersOf(directory: string): Holder[] {
  return allPids()
    .map((pid) => ({ pid, places: placesIn(directory, pid) }))
    .filter(({ places }) => places.length > 0)
    .slice(0, MAX_HOLDERS)
}

function placesIn(directory: string, pid: number): string[] {
  const places = placesOf(pid, ['cwd', 'exe', 'root', ...descriptorsOf(pid)])
  const inside = places.filter((place) => place === directory || place.startsWith(`${directory}/`))
  return [...new Set(inside)].slice(0, MAX_PLACES)
}
