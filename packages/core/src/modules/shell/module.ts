import { defineModule } from '../define-module.ts'
import { shellConfigSchema } from './config.ts'
import type { Shell } from './contract.ts'

export const shellModule = defineModule<Shell>()({
  name: 'shell',
  configSchema: shellConfigSchema,
  guard: (module) => module,
  tools: [],
})
