import { rejectStaleTarget, transferInput } from '../edit/transfer.ts'
import { workspacePath } from '../path/workspace-path.ts'
import { fsTool } from './fs-tool.ts'

export const moveTool = fsTool({
  name: 'move',
  description:
    'Move or rename a file or a directory. An existing target file is replaced only with opts.overwrite, and not when it changed since you last read it.',
  inputSchema: transferInput,
  annotations: { readOnly: false, destructive: true, idempotent: false },
  paths: ({ from, to }) => [from, to].map((path) => ({ path, isTree: true, keepsLink: true })),
  available: (config) => config.extended,
  preview: async (change) => {
    const { previewTransfer } = await import('../preview/preview-tree.ts')
    return previewTransfer(change, 'move', change.input)
  },
  execute: async (change) => {
    const { module, input, context } = change
    const from = await workspacePath(input.from, context)
    const to = await workspacePath(input.to, context)
    await rejectStaleTarget(change, to)
    const before = await module.stat(from)
    await module.move(from, to, input.opts)
    if (from === to) return { from, to }
    context.ledger.rename(from, to)
    const after = await module.stat(to)
    // Some file systems give a moved file a new version.
    if (after.type === 'file') context.ledger.revise(to, before.version, after.version)
    return { from, to }
  },
  toModelOutput: ({ from, to }) => `moved ${from} to ${to}`,
})
