import { readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ReadPackage } from './checkout-package.ts'

/** From `node_modules`. */
export const readInstalledPackage: ReadPackage = (name) => {
  const folder = dirname(fileURLToPath(import.meta.resolve(name)))
  return readdirSync(folder)
    .toSorted()
    .filter((file) => statSync(join(folder, file)).isFile())
    .map((file) => ({ name: file, content: readFileSync(join(folder, file)) }))
}
