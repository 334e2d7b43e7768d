import { definePackage } from '../../scripts/tsup.ts'

export default definePackage({ entry: ['src/index.ts'] })
