import { dirname, join } from 'node:path'
import {
  type Manifest,
  packageFolders,
  read,
  readManifest,
  sourceOfTarget,
} from '../../repository.ts'

/** Which files import a file, by its path from the root of the repository. */
export type Importers = ReadonlyMap<string, readonly string[]>

const SPECIFIER = /(?:\bfrom|\bimport|\bimport\()\s*(['"])([^'"]+)\1/g

/** Reads who imports whom: relative paths, and packages of the repository by their source entries. */
export function readImporters(files: readonly string[]): Importers {
  const entries = sourceEntries()
  const importers = new Map<string, string[]>()
  for (const file of files) {
    for (const [, , specifier = ''] of read(file).matchAll(SPECIFIER)) {
      const imported = specifier.startsWith('.')
        ? join(dirname(file), specifier)
        : entries.get(specifier)
      if (imported !== undefined)
        importers.set(imported, [...(importers.get(imported) ?? []), file])
    }
  }
  return importers
}

/** The files that stand for each import of a package of the repository. */
function sourceEntries(): ReadonlyMap<string, string> {
  const entries = new Map<string, string>()
  for (const name of packageFolders()) {
    const folder = join('packages', name)
    const manifest: Manifest = readManifest(folder)
    for (const [path, target] of Object.entries(manifest.exports ?? {})) {
      const source = sourceOfTarget(target)
      if (source === undefined) continue
      const specifier = path === '.' ? manifest.name : `${manifest.name}${path.slice(1)}`
      entries.set(specifier, join(folder, source))
    }
  }
  return entries
}

/** How many imports lead from each file to `target`. */
export function distancesTo(target: string, importers: Importers): ReadonlyMap<string, number> {
  const distances = new Map([[target, 0]])
  // A map goes on with what is added while it is read: breadth first.
  for (const [file, distance] of distances) {
    for (const importer of importers.get(file) ?? []) {
      if (!distances.has(importer)) distances.set(importer, distance + 1)
    }
  }
  return distances
}

/**
 * The tests of a file: its mirrored one, those of its package, then others. Among them first those that
 * run a conformance suite, which try everything in few words, then those that import it, those that
 * speak of the same things, and near ones.
 */
export function testsOf(
  file: string,
  importers: Importers,
  affinityOf: (file: string, test: string) => number = () => 0,
): readonly string[] {
  const distances = distancesTo(file, importers)
  const owner = packageOf(file)
  const rank = (test: string): readonly number[] => [
    isMirror(test, file) ? 0 : 1,
    packageOf(test) === owner ? 0 : 1,
    isSuite(test) ? 0 : 1,
    distances.get(test) === 1 ? 0 : 1,
    -affinityOf(file, test),
    distances.get(test) ?? 0,
  ]
  return [...distances.keys()]
    .filter((path) => path.endsWith('.test.ts'))
    .map((test) => ({ test, rank: rank(test) }))
    .toSorted((one, other) => compare(one.rank, other.rank) || (one.test < other.test ? -1 : 1))
    .map(({ test }) => test)
}

function packageOf(file: string): string {
  return file.split('/').slice(0, 2).join('/')
}

function isSuite(test: string): boolean {
  return test.endsWith('/conformance.test.ts')
}

/** Whether a test stands where the file stands: `test/a/b.test.ts` for `src/a/b.ts`. */
function isMirror(test: string, file: string): boolean {
  const mirror = file.replace('/src/', '/test/').replace(/\.ts$/, '')
  return test === `${mirror}.test.ts` || test === `${mirror}.node.test.ts`
}

function compare(one: readonly number[], other: readonly number[]): number {
  for (const [index, value] of one.entries()) {
    const difference = value - (other[index] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

/** The source files of a package that a mutant may change: not its generated ones. */
export function isMutable(file: string): boolean {
  const isSource = /^packages\/[^/]+\/src\/.*\.ts$/.test(file) && !file.endsWith('.d.ts')
  const isGenerated = file.startsWith('packages/sdk/') || file.endsWith('dashboard/assets.ts')
  return isSource && !isGenerated
}
