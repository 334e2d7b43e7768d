import { defineModule } from '../define-module.ts'
import { fileSystemConfigSchema } from './config.ts'
import type { FileSystem } from './contract.ts'

export const fileSystemModule = defineModule<FileSystem>()({
  name: 'fs',
  configSchema: fileSystemConfigSchema,
  guard: (module) => module,
  tools: [],
})
