import * as z from 'zod'
import { toolsFor } from '../../define-module.ts'
import type { ShellConfig } from '../config.ts'
import type { BackgroundProcess, Shell } from '../contract.ts'
import { backgroundMissing } from '../background-missing.ts'
import { describeProcess } from '../describe-process.ts'

/** More are counted, not shown. */
const SHOWN_PROCESSES = 100

export const processListTool = toolsFor<Shell, ShellConfig>()({
  name: 'process_list',
  description: 'List the commands that were started in the background, and how they ended.',
  inputSchema: () => z.strictObject({}),
  annotations: { readOnly: true, destructive: false, idempotent: true },
  available: (config) => config.background,
  execute: async ({ module, context }): Promise<readonly BackgroundProcess[]> => {
    if (module.list === undefined) throw backgroundMissing(context.workspace)
    return module.list()
  },
  toModelOutput: (processes) => {
    if (processes.length === 0) return '[no background processes]'
    const lines = processes.slice(0, SHOWN_PROCESSES).map(describeProcess)
    const more = processes.length - lines.length
    return [...lines, ...(more > 0 ? [`[… ${more} more …]`] : [])].join('\n')
  },
})
