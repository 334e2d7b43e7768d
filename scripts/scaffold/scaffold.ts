import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** A package to make from templates. */
export interface NewPackage {
  /** The repository, or a copy of the part that is read and written. */
  readonly root: string
  /** Name of the family, such as `store`: the package is `packages/<family>-<id>`. */
  readonly family: string
  /** Such as `acme`: lower case, words joined by dashes. */
  readonly id: string
  /** Folder of the `*.template` files. */
  readonly templates: string
  /** Where a template goes that is no file of the package, by its name. */
  readonly elsewhere?: Readonly<Record<string, string>>
}

const idPattern = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/

/**
 * Fills the templates of a package and lists the package in `tsconfig.json`, which is all that the
 * repository derives its lists from.
 * @returns the files written, from the root.
 * @throws {Error} when the id is not usable or taken.
 */
export function generatePackage(made: NewPackage): string[] {
  const { root, family, id, templates, elsewhere = {} } = made
  if (!idPattern.test(id)) throw new Error(`"${id}" is not a kind: use lower case, such as "acme"`)
  const folder = `packages/${family}-${id}`
  for (const taken of [folder, ...Object.values(elsewhere)]) {
    if (existsSync(join(root, taken))) throw new Error(`${taken} exists already`)
  }
  const fill = filler(root, id)
  const files = globSync('**/*.template', { cwd: templates }).toSorted()
  const written = files.map((from) => {
    const target = from.replace(/\.template$/, '')
    return { from, to: elsewhere[target] ?? `${folder}/${target}` }
  })
  for (const { from, to } of written) {
    mkdirSync(dirname(join(root, to)), { recursive: true })
    writeFileSync(join(root, to), fill(readFileSync(join(templates, from), 'utf8')))
  }
  registerProjects(root, family, folder)
  return [...written.map(({ to }) => to), 'tsconfig.json']
}

function filler(root: string, id: string): (template: string) => string {
  const core = JSON.parse(readFileSync(join(root, 'packages/core/package.json'), 'utf8')) as {
    version: string
  }
  const words = id.split('-')
  const values: Readonly<Record<string, string>> = {
    id,
    version: core.version,
    Name: words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join(''),
    CONSTANT: words.join('_').toUpperCase(),
  }
  return (template) =>
    template.replaceAll(/\{\{(\w+)\}\}/g, (marker, name: string) => values[name] ?? marker)
}

/** The two projects of the package, behind those of the last package of its family. */
function registerProjects(root: string, family: string, folder: string): void {
  const file = join(root, 'tsconfig.json')
  const config = JSON.parse(readFileSync(file, 'utf8')) as { references: { path: string }[] }
  const paths = config.references.map((reference) => reference.path)
  const last = paths.findLastIndex((path) => path.startsWith(`packages/${family}-`))
  paths.splice(last + 1, 0, folder, `${folder}/tsconfig.test.json`)
  const references = paths.map((path) => ({ path }))
  writeFileSync(file, `${JSON.stringify({ ...config, references }, null, 2)}\n`)
}
