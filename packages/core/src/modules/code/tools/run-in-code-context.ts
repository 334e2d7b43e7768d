import * as z from 'zod'
import { toolsFor } from '../../define-module.ts'
import type { CodeConfig } from '../config.ts'
import { codeContextIdSchema } from '../context-id.ts'
import type { CodeInterpreter } from '../contract.ts'

export const runInCodeContextTool = toolsFor<CodeInterpreter, CodeConfig>()({
  name: 'run_in_code_context',
  description: 'Run a snippet of code in a context; its variables are there in the next run.',
  inputSchema: () => z.strictObject({ contextId: codeContextIdSchema, code: z.string() }),
  annotations: { readOnly: false, destructive: true, idempotent: false },
  available: (config) => config.isStateful,
  preview: async ({ input: { contextId, code } }) => ({
    title: `run code in context ${contextId}`,
    body: code,
  }),
  load: async () => (await import('./calls/run-code.ts')).runInContextWork,
})
