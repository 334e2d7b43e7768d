import { globSync } from 'node:fs'

/** Options of vitest whose value is the next argument. With any other such option all files count. */
const WITH_VALUE =
  /^(?:--(?:bail|config|maxWorkers|outputFile|project|reporter|testNamePattern)|-t)$/

/**
 * @param args the arguments of vitest after its name.
 * @returns the parts of paths that select files, or `undefined` when all files run or it is unclear.
 */
export function fileFilters(args: readonly string[]): readonly string[] | undefined {
  const filters: string[] = []
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at] ?? ''
    if (WITH_VALUE.test(arg)) at += 1
    else if (!arg.startsWith('-')) filters.push(arg.toLowerCase())
    else if (!arg.includes('=') && args[at + 1]?.startsWith('-') === false) return undefined
  }
  const [command, ...paths] = filters
  const selecting = command === 'run' ? paths : filters
  return selecting.length === 0 ? undefined : selecting
}

/** @returns whether a run with these filters takes any file of these patterns. */
export function isSelected(
  filters: readonly string[] | undefined,
  patterns: readonly string[],
  root: string,
): boolean {
  if (filters === undefined) return true
  return globSync(patterns, { cwd: root, exclude: ['**/node_modules/**'] }).some((file) =>
    filters.some((filter) => `${root}/${file}`.toLowerCase().includes(filter)),
  )
}
