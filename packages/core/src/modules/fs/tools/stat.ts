import * as z from 'zod'
import type { FileType } from '../contract.ts'
import { workspacePath } from '../path/workspace-path.ts'
import { filePath, fsTool, READ_ONLY } from './fs-tool.ts'

export interface StatOutput {
  readonly path: string
  readonly type: FileType
  /** Bytes; 0 for a directory. */
  readonly size: number
  /** ISO 8601. */
  readonly mtime: string
  readonly version: string
}

export const statTool = fsTool({
  name: 'stat',
  description: 'Tell type, size in bytes, time of last change and version of a file or directory.',
  inputSchema: () => z.strictObject({ path: filePath }),
  annotations: READ_ONLY,
  paths: ({ path }) => [{ path }],
  execute: async ({ module, input, context }): Promise<StatOutput> => {
    const { path, type, size, mtime, version } = await module.stat(
      await workspacePath(input.path, context),
    )
    return { path, type, size, mtime: mtime.toISOString(), version }
  },
  toModelOutput: (output) =>
    `${output.path}: ${output.type}, ${output.size} bytes, changed ${output.mtime}, version ${output.version}`,
})
