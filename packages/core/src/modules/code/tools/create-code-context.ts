import * as z from 'zod'
import { toolsFor } from '../../define-module.ts'
import type { CodeConfig } from '../config.ts'
import { contextsMissing } from '../contexts-missing.ts'
import type { CodeInterpreter } from '../contract.ts'

export const createCodeContextTool = toolsFor<CodeInterpreter, CodeConfig>()({
  name: 'create_code_context',
  description: 'Open a context in which variables stay from one run to the next.',
  inputSchema: () =>
    z.strictObject({
      language: z.string().min(1).describe('Language of the context, such as python.'),
    }),
  annotations: { readOnly: false, destructive: false, idempotent: false },
  available: (config) => config.isStateful,
  preview: async ({ input }) => ({ title: `open a context of ${input.language}` }),
  execute: async ({ module, input, context }) => {
    if (module.createContext === undefined) throw contextsMissing(context.workspace)
    return { contextId: await module.createContext(input.language) }
  },
  toModelOutput: ({ contextId }) => `[context ${contextId}]`,
})
