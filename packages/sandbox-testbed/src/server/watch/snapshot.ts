import { type BigIntStats, lstatSync, readdirSync, statSync } from 'node:fs'
import { matchesGlob, relative } from 'node:path'

/** What is watched. */
export interface WatchScope {
  readonly path: string
  readonly recursive: boolean
  readonly include: readonly string[] | undefined
  readonly exclude: readonly string[]
}

/** The state of one path. */
interface PathState {
  readonly inode: bigint
  readonly content: string
  readonly mode: bigint
  readonly isDirectory: boolean
}

/** The state of everything, by absolute path. */
export type Snapshot = ReadonlyMap<string, PathState>

/** One difference between two snapshots. */
export interface Difference {
  readonly eventType: 'attrib' | 'create' | 'delete' | 'modify' | 'move_from' | 'move_to'
  readonly path: string
  readonly isDirectory: boolean
}

/** Reads the state of everything in a scope. */
export function takeSnapshot(scope: WatchScope): Snapshot {
  const found = new Map<string, PathState>()
  const root = statSync(scope.path, { bigint: true, throwIfNoEntry: false })
  if (root === undefined) return found
  if (root.isDirectory()) collect(scope, scope.path, found)
  else found.set(scope.path, stateOf(root))
  return found
}

/** What changed, in the order: gone, new, different. */
export function differences(before: Snapshot, after: Snapshot): Difference[] {
  const gone = [...before].filter(([path]) => !after.has(path))
  const fresh = [...after].filter(([path]) => !before.has(path))
  const [left, arrived] = [identitiesOf(gone), identitiesOf(fresh)]
  const difference = (
    eventType: Difference['eventType'],
    [path, state]: readonly [string, PathState],
  ): Difference => ({ eventType, path, isDirectory: state.isDirectory })
  return [
    ...gone.map((one) => difference(arrived.has(identityOf(one[1])) ? 'move_from' : 'delete', one)),
    ...fresh.map((one) => difference(left.has(identityOf(one[1])) ? 'move_to' : 'create', one)),
    ...[...after].flatMap((one) => {
      const was = before.get(one[0])
      if (was === undefined || one[1].isDirectory) return []
      if (was.content !== one[1].content) return [difference('modify', one)]
      return was.mode === one[1].mode ? [] : [difference('attrib', one)]
    }),
  ]
}

/** What stays the same when something is moved. */
function identityOf(state: PathState): string {
  return `${state.inode} ${state.content}`
}

function identitiesOf(states: readonly (readonly [string, PathState])[]): Set<string> {
  return new Set(states.map(([, state]) => identityOf(state)))
}

function collect(scope: WatchScope, directory: string, found: Map<string, PathState>): void {
  for (const name of namesIn(directory)) {
    const path = `${directory.replace(/\/$/, '')}/${name}`
    const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false })
    // Removed by now.
    if (stats === undefined || isExcluded(scope, path, name)) continue
    const isIncluded = scope.include === undefined || matches(scope, path, scope.include)
    if (isIncluded) found.set(path, stateOf(stats))
    if (scope.recursive && stats.isDirectory()) collect(scope, path, found)
  }
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch {
    // Removed by now, or not readable.
    return []
  }
}

function isExcluded(scope: WatchScope, path: string, name: string): boolean {
  return scope.exclude.includes(name) || matches(scope, path, scope.exclude)
}

function matches(scope: WatchScope, path: string, patterns: readonly string[]): boolean {
  const names = [relative(scope.path, path), path.slice(path.lastIndexOf('/') + 1)]
  return patterns.some((pattern) => names.some((name) => matchesGlob(name, pattern)))
}

function stateOf(stats: BigIntStats): PathState {
  const isDirectory = stats.isDirectory()
  const content = isDirectory ? 'directory' : `${stats.mtimeNs} ${stats.size}`
  return { inode: stats.ino, content, mode: stats.mode, isDirectory }
}
