import * as z from 'zod'
import { toolsFor } from '../../define-module.ts'
import { backgroundMissing } from '../background-missing.ts'
import type { ShellConfig } from '../config.ts'
import type { Shell } from '../contract.ts'

export const processKillTool = toolsFor<Shell, ShellConfig>()({
  name: 'process_kill',
  description: 'End a background process and everything it started.',
  inputSchema: () => z.strictObject({ id: z.string().min(1).describe('Id of the process.') }),
  annotations: { readOnly: false, destructive: true, idempotent: true },
  available: (config) => config.background,
  preview: async ({ module, input }) => {
    const processes = (await module.list?.()) ?? []
    const found = processes.find(({ id }) => id === input.id)
    if (found === undefined) return { title: `end process ${input.id}` }
    return { title: `end process ${input.id}: ${found.command}`, body: found.command }
  },
  execute: async ({ module, input, context }) => {
    if (module.kill === undefined) throw backgroundMissing(context.workspace)
    await module.kill(input.id)
    return { id: input.id }
  },
  toModelOutput: ({ id }) => `[process ${id} has ended]`,
})
