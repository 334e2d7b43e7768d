import index from 'ms/index.js?bytes'
import license from 'ms/license.md?bytes'
import manifest from 'ms/package.json?bytes'
import readme from 'ms/readme.md?bytes'
import type { ReadPackage } from './checkout-package.ts'

const files = {
  'index.js': index,
  'license.md': license,
  'package.json': manifest,
  'readme.md': readme,
}

/** From the bundle of the Worker. */
export const readBundledPackage: ReadPackage = () =>
  Object.entries(files).map(([name, content]) => ({ name, content: new Uint8Array(content) }))
