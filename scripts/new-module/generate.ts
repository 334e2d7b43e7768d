import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export interface NewModule {
  /** The repository, or a copy of the part that is read and written. */
  readonly root: string
  /** Key of the capability, such as `net`. */
  readonly id: string
}

const modules = 'packages/core/src/modules'
const list = `${modules}/list.ts`
const templates = join(import.meta.dirname, 'template')

/**
 * Makes the folder and the docs page of a capability module and adds the module to the one list:
 * types, checks, refs, tools, conformance and tables of the docs follow from there.
 * @returns the files written, from the root.
 * @throws {Error} when the id is not usable or taken.
 */
export function generateModule({ root, id }: NewModule): string[] {
  if (!/^[a-z][a-z0-9]*$/.test(id)) {
    throw new Error(`"${id}" is not a key: use lower case, such as "net"`)
  }
  const folder = `${modules}/${id}`
  const page = `docs/modules/${id}.md`
  for (const taken of [folder, page]) {
    if (existsSync(join(root, taken))) throw new Error(`${taken} exists already`)
  }
  const files = globSync('**/*.template', { cwd: templates }).toSorted()
  const written = files.map((from) => {
    const target = from.replace(/\.template$/, '')
    return { from, to: target === 'docs-page.md' ? page : `${folder}/${target}` }
  })
  for (const { from, to } of written) {
    mkdirSync(dirname(join(root, to)), { recursive: true })
    writeFileSync(join(root, to), fill(readFileSync(join(templates, from), 'utf8'), id))
  }
  addToList(join(root, list), id)
  return [...written.map(({ to }) => to), list]
}

function fill(template: string, id: string): string {
  const Name = id.charAt(0).toUpperCase() + id.slice(1)
  return template.replaceAll('{{id}}', id).replaceAll('{{Name}}', Name)
}

/** The import and the entry of the module, behind those of the last one. */
function addToList(file: string, id: string): void {
  const lines = readFileSync(file, 'utf8').split('\n')
  const lastImport = lines.findLastIndex((line) => line.endsWith("/module.ts'"))
  lines.splice(lastImport + 1, 0, `import { ${id}Module } from './${id}/module.ts'`)
  const end = lines.indexOf('} as const')
  lines.splice(end, 0, `  ${id}: ${id}Module,`)
  writeFileSync(file, lines.join('\n'))
}
