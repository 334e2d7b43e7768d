import { definePackage } from '../../scripts/tsup.ts'

export default definePackage({
  entry: ['src/index.ts', 'src/workerd.ts', 'src/thread.ts'],
  // A module that the bundler of a Worker finds by the `imports` of the package.
  external: [/^node:/, /^#wasm\//],
})
