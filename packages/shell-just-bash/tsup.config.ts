import { definePackage } from '../../scripts/tsup.ts'

export default definePackage({
  entry: ['src/index.ts', 'src/node/index.ts', 'src/node/thread.ts'],
  external: [/^node:/],
})
