import { definePackage } from '../../scripts/tsup.ts'

export default definePackage({
  entry: ['src/index.ts', 'src/operate/index.ts', 'src/parts.ts', 'src/block-thread.ts'],
  platform: 'node',
  target: 'node22',
})
