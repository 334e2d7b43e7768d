import { join } from 'node:path'
import { generatePackage } from '../scaffold/scaffold.ts'

/** Makes the package of a store on a SQL driver. @throws {Error} for an id that is not usable. */
export function generateStore({ root, id }: { root: string; id: string }): string[] {
  const templates = join(import.meta.dirname, 'template')
  return generatePackage({ root, id, family: 'store', templates })
}
