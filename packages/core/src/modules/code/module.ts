import type { ModuleDefinition } from '../define-module.ts'
import { codeConfigSchema } from './config.ts'
import type { CodeInterpreter } from './contract.ts'
import { withCodePolicy } from './policy.ts'
import { createCodeContextTool } from './tools/create-code-context.ts'
import { deleteCodeContextTool } from './tools/delete-code-context.ts'
import { runCodeTool } from './tools/run-code.ts'
import { runInCodeContextTool } from './tools/run-in-code-context.ts'

export const codeModule: ModuleDefinition<'code', CodeInterpreter, typeof codeConfigSchema> = {
  name: 'code',
  configSchema: codeConfigSchema,
  guard: withCodePolicy,
  tools: [runCodeTool, createCodeContextTool, runInCodeContextTool, deleteCodeContextTool],
}
