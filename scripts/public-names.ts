// The public names of every entry point of every package, one file a package below `api/`, so that
// a change of the API is seen in the diff. `pnpm api:gen` writes them; the test beside this compares.
import { mkdirSync, readFileSync, existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Declaration, exportsOf } from './docs/declarations.ts'
import { packageFolders, readManifest, root, sourceOfTarget } from './repository.ts'

const FOLDER = 'api'

export interface EntryPoint {
  /** What is imported, such as `@helix-agents/core/provider`. */
  readonly specifier: string
  readonly declarations: readonly Declaration[]
  /** Names of other packages that it re-exports. */
  readonly passedOn: readonly string[]
}

/** The entry points of a package that have TypeScript behind them. */
export function entryPoints(folder: string): EntryPoint[] {
  const { name, exports = {} } = readManifest(`packages/${folder}`)
  return Object.entries(exports).flatMap(([path, target]) => {
    const source = sourceOfTarget(target)
    if (source === undefined) return []
    const { declarations, passedOn } = exportsOf(join('packages', folder, source))
    return [{ specifier: join(name, path), declarations, passedOn }]
  })
}

export interface NameList {
  readonly file: string
  readonly current: string
  readonly derived: string
}

/** One list a package: what is in the repository, and what the source says. */
export function nameLists(): NameList[] {
  return packageFolders().map((folder) => {
    const file = `${FOLDER}/${folder}.txt`
    const path = join(root, file)
    return {
      file,
      current: existsSync(path) ? readFileSync(path, 'utf8') : '',
      derived: entryPoints(folder).map(entryText).join('\n'),
    }
  })
}

function entryText({ specifier, declarations, passedOn }: EntryPoint): string {
  const lines = [
    ...declarations.map(({ name, kind }) => `${name} (${kind})`),
    ...passedOn.map((name) => `${name} (re-export)`),
  ].toSorted((a, b) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1))
  return `${[specifier, ...lines.map((line) => `  ${line}`)].join('\n')}\n`
}

if (import.meta.main) {
  mkdirSync(join(root, FOLDER), { recursive: true })
  for (const { file, current, derived } of nameLists()) {
    if (current === derived) continue
    writeFileSync(join(root, file), derived)
    console.log(`wrote ${file}`)
  }
}
