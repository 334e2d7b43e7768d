import { FileSystemError } from '../../../../errors/file-system-error.ts'
import type { ModulePreview } from '../../../../permissions/module-preview.ts'
import { cutEnd } from '../../../../tools/result-budget.ts'
import type { ModuleToolWork } from '../../../define-module.ts'
import type { FileSystemConfig } from '../../config.ts'
import type { FileStat, FileSystem } from '../../contract.ts'
import { type AppliedEdit, applyEdit, type TextEdit } from '../../edit/edit.ts'
import { maxEditedBytes, readEditableText } from '../../edit/editable-text.ts'
import { type FileChange, requireRead, type Rewrite, rewriteFile } from '../../edit/rewrite-file.ts'
import { createWorkTurn } from '../../edit/work-turn.ts'
import { workspacePath } from '../../path/workspace-path.ts'
import { resultLimits } from '../../result-limits.ts'

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

type EditWork<Input> = ModuleToolWork<FileSystem, FileSystemConfig, Input, EditFileOutput>

export const editFileWork: EditWork<TextEdit & { readonly path: string }> = {
  execute: (change) => editFile(change, change.input.path, [change.input]),
  toModelOutput: renderEdit,
}

export const multiEditWork: EditWork<{
  readonly path: string
  readonly edits: readonly TextEdit[]
}> = {
  execute: (change) => editFile(change, change.input.path, change.input.edits),
  toModelOutput: renderEdit,
}

/** Applies edits one after the other; all of them or none. */
async function editFile(
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
  const { previewWrite } = await import('../../preview/preview-change.ts')
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

function renderEdit(output: EditFileOutput): string {
  const count = output.replacements === 1 ? '' : ` (${output.replacements} replacements)`
  const lines = `lines ${output.firstLine}-${output.lastLine}`
  const head = `edited ${output.path}${count}, ${lines}, version ${output.version}`
  return [head, ...output.notes, output.diff].join('\n')
}
