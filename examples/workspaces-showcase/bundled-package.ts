import index from 'ms/index.js' with { type: 'bytes' }
import license from 'ms/license.md' with { type: 'bytes' }
import manifest from 'ms/package.json' with { type: 'bytes' }
import readme from 'ms/readme.md' with { type: 'bytes' }
import type { ReadPackage } from './checkout-package.ts'

/** From the bundle of the Worker: the package that the agent works on is carried along, not run. */
export const readBundledPackage: ReadPackage = () => [
  { name: 'index.js', content: index },
  { name: 'license.md', content: license },
  { name: 'package.json', content: manifest },
  { name: 'readme.md', content: readme },
]
