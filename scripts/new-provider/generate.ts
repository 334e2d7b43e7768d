import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export interface NewProvider {
  /** The repository, or a copy of the part that is read and written. */
  readonly root: string
  /** Kind of the provider, such as `acme`. */
  readonly id: string
}

const templates = join(import.meta.dirname, 'template')
const idPattern = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/

/**
 * Makes the package and the docs page of a new provider and lists it in `tsconfig.json`.
 * @returns the files written, from the root.
 * @throws {Error} when the id is not usable or taken.
 */
export function generateProvider({ root, id }: NewProvider): string[] {
  if (!idPattern.test(id)) throw new Error(`"${id}" is not a kind: use lower case, such as "acme"`)
  const folder = `packages/workspace-${id}`
  const page = `docs/providers/${id}.md`
  for (const taken of [folder, page]) {
    if (existsSync(join(root, taken))) throw new Error(`${taken} exists already`)
  }
  const fill = filler(root, id)
  const files = globSync('**/*.template', { cwd: templates }).toSorted()
  const written = files.map((file) => {
    const target = file.replace(/\.template$/, '')
    return { from: file, to: target === 'docs-page.md' ? page : `${folder}/${target}` }
  })
  for (const { from, to } of written) {
    mkdirSync(dirname(join(root, to)), { recursive: true })
    writeFileSync(join(root, to), fill(readFileSync(join(templates, from), 'utf8')))
  }
  registerProjects(root, folder)
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

/** The two projects of the package, behind those of the last provider. */
function registerProjects(root: string, folder: string): void {
  const file = join(root, 'tsconfig.json')
  const config = JSON.parse(readFileSync(file, 'utf8')) as { references: { path: string }[] }
  const paths = config.references.map((reference) => reference.path)
  const last = paths.findLastIndex((path) => path.startsWith('packages/workspace-'))
  paths.splice(last + 1, 0, folder, `${folder}/tsconfig.test.json`)
  const references = paths.map((path) => ({ path }))
  writeFileSync(file, `${JSON.stringify({ ...config, references }, null, 2)}\n`)
}
