import * as z from 'zod'
import { utf8Length } from '../text/bytes.ts'
import { statIfPresent } from '../edit/rewrite-file.ts'
import { workspacePath } from '../path/workspace-path.ts'
import { filePath, fsTool, wholeText } from './fs-tool.ts'

export const appendFileTool = fsTool({
  name: 'append_file',
  description:
    'Add text to the end of a file, exactly as given: no line end is added. Makes the file when it is missing.',
  inputSchema: () => z.strictObject({ path: filePath, content: wholeText() }),
  annotations: { readOnly: false, destructive: false, idempotent: false },
  paths: ({ path }) => [{ path }],
  available: (config) => config.extended,
  preview: async (change) => {
    const { previewWrite } = await import('../preview/preview-change.ts')
    const { path, content } = change.input
    return previewWrite(change, {
      verb: 'append to',
      path,
      make: (before = '') => before + content,
    })
  },
  execute: async ({ module, input, context }) => {
    const path = await workspacePath(input.path, context)
    const { actor, ledger } = context
    return ledger.inOrder(path, async () => {
      const before = await statIfPresent(module, path)
      const stat = await module.appendFile(path, input.content)
      const isCurrent =
        before === undefined || ledger.check(actor, path, before.version) === undefined
      // Any other size: another process wrote in between, which this agent has not seen.
      const isOwn = stat.size === (before?.size ?? 0) + utf8Length(input.content)
      const known = before === undefined ? 'whole' : 'before'
      if (isCurrent && isOwn) ledger.recordWrite(actor, path, stat.version, known)
      return { path, size: stat.size, version: stat.version }
    })
  },
  toModelOutput: (output) =>
    `appended to ${output.path}: now ${output.size} bytes, version ${output.version}`,
})
