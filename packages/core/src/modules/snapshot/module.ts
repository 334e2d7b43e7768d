import { defineModule } from '../define-module.ts'
import { snapshotConfigSchema } from './config.ts'
import type { Snapshotter } from './contract.ts'

export const snapshotModule = defineModule<Snapshotter>()({
  name: 'snapshot',
  configSchema: snapshotConfigSchema,
  guard: (module) => module,
  tools: [],
})
