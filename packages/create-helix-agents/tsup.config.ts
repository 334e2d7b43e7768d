import { definePackage } from '../../scripts/tsup.ts'

export default definePackage({
  entry: ['src/index.ts', 'src/bin.ts'],
  platform: 'node',
  target: 'node22',
})
