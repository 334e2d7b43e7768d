import { definePackage } from '../../scripts/tsup.ts'

export default definePackage({
  entry: ['src/index.ts', 'src/provider.ts', 'src/runtime.ts', 'src/testing/index.ts'],
})
