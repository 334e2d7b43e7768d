import * as z from 'zod'
import { workspacePath } from '../path/workspace-path.ts'
import { filePath, fsTool } from './fs-tool.ts'

export const rmTool = fsTool({
  name: 'rm',
  description:
    'Remove a file, a link or an empty directory; with opts.recursive a directory and all in it. The root itself stays: removing / recursively empties it.',
  inputSchema: () =>
    z.strictObject({
      path: filePath,
      opts: z.strictObject({ recursive: z.boolean().exactOptional() }).exactOptional(),
    }),
  // A repeated call fails: there is nothing to remove.
  annotations: { readOnly: false, destructive: true, idempotent: false },
  paths: ({ path, opts }) => [{ path, isTree: opts?.recursive === true, keepsLink: true }],
  preview: async (change) => {
    const { previewRemoval } = await import('../preview/preview-tree.ts')
    const { path, opts } = change.input
    return previewRemoval(change, { path, isRecursive: opts?.recursive === true })
  },
  execute: async ({ module, input, context }) => {
    const path = await workspacePath(input.path, context)
    await module.rm(path, input.opts)
    context.ledger.forget(path)
    return { path }
  },
  toModelOutput: ({ path }) => `removed ${path}`,
})
