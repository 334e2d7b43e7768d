import * as z from 'zod'
import { toolsFor } from '../../define-module.ts'
import type { CodeConfig } from '../config.ts'
import { codeContextIdSchema } from '../context-id.ts'
import { contextsMissing } from '../contexts-missing.ts'
import type { CodeInterpreter } from '../contract.ts'

export const deleteCodeContextTool = toolsFor<CodeInterpreter, CodeConfig>()({
  name: 'delete_code_context',
  description: 'Close a context and forget its variables.',
  inputSchema: () => z.strictObject({ contextId: codeContextIdSchema }),
  annotations: { readOnly: false, destructive: true, idempotent: true },
  available: (config) => config.isStateful,
  preview: async ({ input }) => ({ title: `close context ${input.contextId}` }),
  execute: async ({ module, input, context }) => {
    if (module.deleteContext === undefined) throw contextsMissing(context.workspace)
    await module.deleteContext(input.contextId)
    return { contextId: input.contextId }
  },
  toModelOutput: ({ contextId }) => `[context ${contextId} is closed]`,
})
