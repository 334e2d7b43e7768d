import { dirname, join } from 'node:path'
import { read } from './repository.ts'

/** Groups of files that import each other in a circle, imports of types included. */
export function importCycles(files: readonly string[]): readonly (readonly string[])[] {
  const known = new Set(files)
  const imports = new Map(
    files.map((file) => [file, relativeImports(file).filter((one) => known.has(one))]),
  )
  const reach = new Map(files.map((file) => [file, reachable(file, imports)]))
  const inCycle = files.filter((file) => reach.get(file)?.has(file))
  const groups = inCycle.map((file) =>
    inCycle.filter((other) => reach.get(file)?.has(other) && reach.get(other)?.has(file)),
  )
  return groups.filter(([first], index) => first === inCycle[index])
}

function relativeImports(file: string): string[] {
  const found = read(file).matchAll(/(?:\bfrom |^import |\bimport\()'(?<path>\.[^'\n]+)'/gm)
  return [...found].map((match) => join(dirname(file), match.groups?.path ?? ''))
}

/** @returns all files to which imports lead from one; itself only when they lead back. */
function reachable(
  start: string,
  imports: ReadonlyMap<string, readonly string[]>,
): ReadonlySet<string> {
  const seen = new Set<string>()
  const open = [start]
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    for (const next of imports.get(file) ?? []) {
      if (seen.has(next)) continue
      seen.add(next)
      open.push(next)
    }
  }
  return seen
}
