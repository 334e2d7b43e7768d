import { rejectStaleTarget, transferInput } from '../edit/transfer.ts'
import { workspacePath } from '../path/workspace-path.ts'
import { fsTool } from './fs-tool.ts'

export const copyTool = fsTool({
  name: 'copy',
  description:
    'Copy a file or a directory with all in it. An existing target file is replaced only with opts.overwrite, and not when it changed since you last read it.',
  inputSchema: transferInput,
  annotations: { readOnly: false, destructive: true, idempotent: false },
  paths: ({ from, to }) => [from, to].map((path) => ({ path, isTree: true })),
  available: (config) => config.extended,
  preview: async (change) => {
    const { previewTransfer } = await import('../preview/preview-tree.ts')
    return previewTransfer(change, 'copy', change.input)
  },
  execute: async (change) => {
    const { module, input, context } = change
    const from = await workspacePath(input.from, context)
    const to = await workspacePath(input.to, context)
    await rejectStaleTarget(change, to)
    await module.copy(from, to, input.opts)
    const stat = await module.stat(to)
    if (stat.type === 'file') context.ledger.recordWrite(context.actor, to, stat.version)
    return { from, to }
  },
  toModelOutput: ({ from, to }) => `copied ${from} to ${to}`,
})
