import type { ModuleDefinition } from '../define-module.ts'
import { shellConfigSchema } from './config.ts'
import type { Shell } from './contract.ts'
import { withShellPolicy } from './policy.ts'
import { processKillTool } from './tools/process-kill.ts'
import { processListTool } from './tools/process-list.ts'
import { processOutputTool } from './tools/process-output.ts'
import { runOrStartTool, runTool } from './tools/run.ts'

export const shellModule: ModuleDefinition<'shell', Shell, typeof shellConfigSchema> = {
  name: 'shell',
  configSchema: shellConfigSchema,
  reads: ['list', 'output'],
  guard: withShellPolicy,
  tools: [runTool, runOrStartTool, processListTool, processOutputTool, processKillTool],
}
