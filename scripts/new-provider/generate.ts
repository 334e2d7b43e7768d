import { join } from 'node:path'
import { generatePackage } from '../scaffold/scaffold.ts'

/** Makes the package and the docs page of a provider. @throws {Error} for an id that is not usable. */
export function generateProvider({ root, id }: { root: string; id: string }): string[] {
  return generatePackage({
    root,
    id,
    family: 'workspace',
    templates: join(import.meta.dirname, 'template'),
    elsewhere: { 'docs-page.md': `docs/providers/${id}.md` },
  })
}
