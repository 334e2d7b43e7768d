import { definePackage } from '../../scripts/tsup.ts'

export default definePackage({
  entry: ['src/index.ts', 'src/block-thread.ts'],
  platform: 'node',
  target: 'node22',
})
