import { definePackage } from '../../scripts/tsup.ts'

export default definePackage({ platform: 'node', target: 'node22' })
