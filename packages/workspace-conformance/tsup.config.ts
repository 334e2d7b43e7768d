import { definePackage } from '../../scripts/tsup.ts'

export default definePackage({
  entry: [
    'src/index.ts',
    'src/store/index.ts',
    'src/executor/index.ts',
    'src/model/index.ts',
    'src/bounds/index.ts',
  ],
})
