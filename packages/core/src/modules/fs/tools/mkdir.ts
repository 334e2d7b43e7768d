import * as z from 'zod'
import { workspacePath } from '../path/workspace-path.ts'
import { directoryPath, fsTool } from './fs-tool.ts'

export const mkdirTool = fsTool({
  name: 'mkdir',
  description:
    'Make a directory. With opts.recursive also its parents, and an existing one is no error.',
  inputSchema: () =>
    z.strictObject({
      path: directoryPath,
      opts: z.strictObject({ recursive: z.boolean().exactOptional() }).exactOptional(),
    }),
  // Without `recursive` a repeated call fails.
  annotations: { readOnly: false, destructive: false, idempotent: false },
  paths: ({ path }) => [{ path }],
  preview: async ({ input, context }) => ({
    title: `make the directory ${await workspacePath(input.path, context)}`,
  }),
  execute: async ({ module, input, context }) => {
    const path = await workspacePath(input.path, context)
    await module.mkdir(path, input.opts)
    return { path }
  },
  toModelOutput: ({ path }) => `made ${path}`,
})
