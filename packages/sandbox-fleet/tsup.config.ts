import { definePackage } from '../../scripts/tsup.ts'

export default definePackage({
  entry: ['src/index.ts', 'src/node/index.ts', 'src/postgres/index.ts', 'src/cloudflare/index.ts'],
  external: [/^cloudflare:/, /^node:/],
})
