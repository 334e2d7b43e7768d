import * as z from 'zod'
import { toolsFor } from '../../define-module.ts'
import { captureCodeRun, liveRunOptions, renderCodeRun } from '../code-run.ts'
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
  execute: async ({ module, input, context }) =>
    captureCodeRun(await module.runCode(input.language, input.code, liveRunOptions(context))),
  toModelOutput: renderCodeRun,
})
