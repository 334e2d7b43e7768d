import * as z from 'zod'
import type { FileStat } from '../contract.ts'
import {
  type FileChange,
  requireRead,
  rewriteFile,
  statUnlessStale,
  staleWrite,
} from '../edit/rewrite-file.ts'
import { workspacePath } from '../path/workspace-path.ts'
import { filePath, fsTool, readFirst, wholeText } from './fs-tool.ts'

const inputSchema = () =>
  z.strictObject({
    path: filePath,
    content: wholeText().describe('The whole new content.'),
  })

export interface WriteFileOutput {
  readonly path: string
  /** Bytes. */
  readonly size: number
  readonly version: string
  readonly isNew: boolean
}

export const writeFileTool = fsTool({
  name: 'write_file',
  description: readFirst(
    'Create a file, or replace the whole content of an existing one. Missing directories are made. Refused when the file changed since you last read it.',
    'An existing file must have been read with read_file before.',
  ),
  inputSchema,
  annotations: { readOnly: false, destructive: true, idempotent: true },
  paths: ({ path }) => [{ path }],
  preview: async (change) => {
    const { previewWrite } = await import('../preview/preview-change.ts')
    const { path, content } = change.input
    return previewWrite(change, { verb: 'replace', path, make: () => content })
  },
  execute: async (change): Promise<WriteFileOutput> => {
    const { input } = change
    const path = await workspacePath(input.path, change.context)
    let isRepeated = false
    const { stat, before } = await rewriteFile(change, path, async (current) => {
      if (isRepeated && current !== undefined) await rejectForeign(change, current)
      isRepeated = true
      if (current !== undefined) requireRead(change, path)
      return { data: input.content, known: 'whole' }
    })
    return { path, size: stat.size, version: stat.version, isNew: before === undefined }
  },
  toModelOutput: (output) =>
    `${output.isNew ? 'created' : 'replaced'} ${output.path}: ${output.size} bytes, version ${output.version}`,
})

/** The file changed between look and write: fine when another call of this agent did it. */
async function rejectForeign(change: FileChange, current: FileStat): Promise<void> {
  const { actor, ledger } = change.context
  await statUnlessStale(change, current.path)
  if (!ledger.hasSeen(actor, current.path)) throw staleWrite(current, undefined)
}
