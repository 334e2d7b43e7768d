import { defineModule } from '../define-module.ts'
import { codeConfigSchema } from './config.ts'
import type { CodeInterpreter } from './contract.ts'

export const codeModule = defineModule<CodeInterpreter>()({
  name: 'code',
  configSchema: codeConfigSchema,
  guard: (module) => module,
  tools: [],
})
