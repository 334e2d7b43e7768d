import * as z from 'zod'
import { FileSystemError } from '../../../errors/file-system-error.ts'
import type { FileStat } from '../contract.ts'
import { type AppliedEdit, applyEdit, type TextEdit } from '../edit.ts'
import { readEditableText } from '../editable-text.ts'
import { type FileChange, requireRead, type Rewrite, rewriteFile } from '../rewrite-file.ts'
import { workspacePath } from '../workspace-path.ts'
import { filePath, fsTool } from './fs-tool.ts'

/** Fields of one edit, also of `multi_edit`. */
export const editFields = () => ({
  oldText: z.string().describe('Text to replace, exactly as in the file, without line numbers.'),
  newText: z.string().describe('Text to put in its place, taken literally. May be empty.'),
  replaceAll: z
    .boolean()
    .exactOptional()
    .describe('Replace every occurrence. Default false: it must occur exactly once.'),
})

export interface EditFileOutput {
  readonly path: string
  /** Bytes of the file now. */
  readonly size: number
  readonly version: string
  readonly replacements: number
  /** Lines that the edit wrote. */
  readonly firstLine: number
  readonly lastLine: number
  readonly diff: string
}

const DESCRIPTION =
  'Replace text in a file. oldText must match exactly, blanks included, and occur once unless replaceAll is set. CRLF line ends and a byte order mark of the file are kept. Returns a diff. Refused when the file changed since you last read it.'

/** Two forms of one tool: the description tells of reading first only where that is enforced. */
export const editFileTool = createEditFileTool(false)
export const editReadFileTool = createEditFileTool(true)

function createEditFileTool(isReadRequired: boolean) {
  return fsTool({
    name: 'edit_file',
    description: isReadRequired
      ? `${DESCRIPTION} The lines to change must have been read with read_file before.`
      : DESCRIPTION,
    inputSchema: () => z.strictObject({ path: filePath, ...editFields() }),
    annotations: { readOnly: false, destructive: true, idempotent: false },
    available: (config) => config.requireReadBeforeWrite === isReadRequired,
    execute: async (change) => editFile(change, change.input.path, [change.input]),
    toModelOutput: renderEdit,
  })
}

/** Applies edits one after the other; all of them or none. */
export async function editFile(
  change: FileChange,
  inputPath: string,
  edits: readonly TextEdit[],
): Promise<EditFileOutput> {
  const path = await workspacePath(inputPath, change.context)
  const { made, stat } = await rewriteFile(change, path, async (current) =>
    applyAll(change, inputPath, current, edits),
  )
  const { first, last } = made
  return {
    path,
    size: stat.size,
    version: stat.version,
    replacements: made.replacements,
    firstLine: first,
    lastLine: last,
    diff: made.diff,
  }
}

interface EditedFile extends Rewrite {
  readonly replacements: number
  readonly first: number
  readonly last: number
  readonly diff: string
}

async function applyAll(
  change: FileChange,
  path: string,
  current: FileStat | undefined,
  edits: readonly TextEdit[],
): Promise<EditedFile> {
  if (current === undefined) throw new FileSystemError('not-found', path)
  let text = await readEditableText(change.module, current.path)
  const applied: AppliedEdit[] = []
  for (const edit of edits) {
    const result = applyEdit(path, text, edit)
    // Later edits may change what earlier ones wrote; lines above those are as they were read.
    requireRead(change, current.path, result.oldLines)
    applied.push(result)
    text = result.text
  }
  const first = Math.min(...applied.map((edit) => edit.lines[0]))
  const last = Math.max(...applied.map((edit) => edit.lines[1]))
  const known = applied.length === 1 ? ([first, last] as const) : ([first, first] as const)
  return {
    data: text,
    known,
    first,
    last,
    replacements: applied.reduce((sum, edit) => sum + edit.replacements, 0),
    diff: applied.map((edit) => edit.diff).join('\n'),
  }
}

export function renderEdit(output: EditFileOutput): string {
  const count = output.replacements === 1 ? '' : ` (${output.replacements} replacements)`
  const lines = `lines ${output.firstLine}-${output.lastLine}`
  return `edited ${output.path}${count}, ${lines}, version ${output.version}\n${output.diff}`
}
