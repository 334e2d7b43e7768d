import { definePackage } from '../../scripts/tsup.ts'

export default definePackage({
  entry: [
    'src/index.ts',
    'src/provider.ts',
    'src/redaction/index.ts',
    'src/runtime.ts',
    'src/testing/index.ts',
  ],
})
