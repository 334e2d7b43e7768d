import * as z from 'zod'
import type { ModulePreview } from '../../../permissions/module-preview.ts'
import { FileSystemError } from '../../../errors/file-system-error.ts'
import { cutEnd } from '../../../tools/result-budget.ts'
import type { FileStat } from '../contract.ts'
import type { AppliedEdit, TextEdit } from '../edit/edit.ts'
import { maxEditedBytes, readEditableText } from '../edit/editable-text.ts'
import { resultLimits } from '../result-limits.ts'
import { type FileChange, requireRead, type Rewrite, rewriteFile } from '../edit/rewrite-file.ts'
import { createWorkTurn } from '../edit/work-turn.ts'
import { workspacePath } from '../path/workspace-path.ts'
import { filePath, fsTool, linesReadFirst, wholeText } from './fs-tool.ts'

const MAX_OLD_CHARACTERS = 1_000_000

/** Fields of one edit, also of `multi_edit`. */
export const editFields = () => ({
  oldText: wholeText()
    .max(
      MAX_OLD_CHARACTERS,
      `has more than ${MAX_OLD_CHARACTERS} characters: replace it in several edits`,
    )
    .describe('Text to replace, exactly as in the file, without line numbers.'),
  newText: wholeText().describe('Text to put in its place, taken literally. May be empty.'),
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
  /** Unified hunks, bounded. */
  readonly diff: string
  /** What was done otherwise than the edits say. */
  readonly notes: readonly string[]
}

export const editFileTool = fsTool({
  name: 'edit_file',
  description: linesReadFirst(
    'Replace text in a file. oldText must match exactly, blanks included, and occur once unless replaceAll is set. The line ends and a byte order mark of the file are kept: write plain line ends. Returns a diff. Refused when the file changed since you last read it.',
  ),
  inputSchema: () => z.strictObject({ path: filePath, ...editFields() }),
  annotations: { readOnly: false, destructive: true, idempotent: false },
  paths: ({ path }) => [{ path }],
  preview: (change) => previewEdits(change, change.input.path, [change.input]),
  execute: async (change) => editFile(change, change.input.path, [change.input]),
  toModelOutput: renderEdit,
})

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
    notes: made.notes,
  }
}

/** The diff of all edits, against the file as it is now. */
export async function previewEdits(
  change: FileChange,
  path: string,
  edits: readonly TextEdit[],
): Promise<ModulePreview> {
  const { previewWrite } = await import('../preview/preview-change.ts')
  const make = async (_before: string | undefined, stat: FileStat | undefined): Promise<string> =>
    (await applyAll(change, path, stat, edits)).data
  return previewWrite(change, { verb: 'edit', path, make })
}

interface EditedFile extends Rewrite {
  readonly replacements: number
  readonly first: number
  readonly last: number
  readonly diff: string
  readonly notes: readonly string[]
}

async function applyAll(
  change: FileChange,
  path: string,
  current: FileStat | undefined,
  edits: readonly TextEdit[],
): Promise<EditedFile> {
  if (current === undefined) throw new FileSystemError('not-found', path)
  const maxCharacters = maxEditedBytes(change.config)
  const turn = createWorkTurn(change.context.signal)
  // Loaded at the first edit: a third of the module is for matching and explaining edits.
  const { applyEdit } = await import('../edit/edit.ts')
  let text = await readEditableText(change.module, current, maxCharacters)
  const applied: AppliedEdit[] = []
  for (const [index, edit] of edits.entries()) {
    const number = edits.length > 1 ? { number: index + 1 } : {}
    const result = await applyEdit({ path, text, maxCharacters, turn, ...number }, edit)
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
    diff: joinDiffs(applied.map((edit) => edit.diff)),
    notes: [...new Set(applied.flatMap(({ note }) => (note === undefined ? [] : [note])))],
  }
}

/** The diffs that fit into a result; of many edits the last ones may be left out. */
function joinDiffs(diffs: readonly string[]): string {
  const shown: string[] = []
  let room = resultLimits.diffCharacters
  for (const diff of diffs) {
    const cut = cutEnd(diff, room)
    shown.push(cut.length < diff.length ? `${cut}[the rest of the diff is left out]` : diff)
    room -= cut.length
    if (room <= 0) break
  }
  return shown.join('\n')
}

export function renderEdit(output: EditFileOutput): string {
  const count = output.replacements === 1 ? '' : ` (${output.replacements} replacements)`
  const lines = `lines ${output.firstLine}-${output.lastLine}`
  const head = `edited ${output.path}${count}, ${lines}, version ${output.version}`
  return [head, ...output.notes, output.diff].join('\n')
}
