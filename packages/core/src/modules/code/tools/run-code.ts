import * as z from 'zod'
import { toolsFor } from '../../define-module.ts'
import type { CodeConfig } from '../config.ts'
import type { CodeInterpreter } from '../contract.ts'

export const runCodeTool = toolsFor<CodeInterpreter, CodeConfig>()({
  name: 'run_code',
  description:
    'Run a snippet of code and return what it prints, shows and evaluates to. No variable of it is left for the next run.',
  inputSchema: () =>
    z.strictObject({
      language: z.string().min(1).describe('Language of the code, such as python.'),
      code: z.string(),
    }),
  annotations: { readOnly: false, destructive: true, idempotent: false },
  preview: async ({ input: { language, code } }) => ({ title: `run ${language} code`, body: code }),
  load: async () => (await import('./calls/run-code.ts')).runCodeWork,
})
