import type { ModulePreview } from '../../../permissions/module-preview.ts'
import type { FileStat } from '../contract.ts'
import { maxEditedBytes } from '../edit/editable-text.ts'
import { type FileDiff, fileDiff } from '../edit/file-diff.ts'
import { type FileChange, statUnlessStale } from '../edit/rewrite-file.ts'
import { createWorkTurn } from '../edit/work-turn.ts'
import type { PlannedFile } from '../patch/plan-patch.ts'
import { workspacePath } from '../path/workspace-path.ts'
import { decodeText, readText, utf8Length } from '../text/bytes.ts'
import { plural } from './describe-target.ts'

/** A file that is written, in its new form. */
interface Written {
  readonly verb: string
  readonly path: string
  /** The new content; undefined: there is no file. */
  readonly make: (
    before: string | undefined,
    stat: FileStat | undefined,
  ) => string | Promise<string>
}

/** The diff of one file against what it is now. */
export async function previewWrite(change: FileChange, written: Written): Promise<ModulePreview> {
  const path = await workspacePath(written.path, change.context)
  const stat = await statUnlessStale(change, path)
  if (stat !== undefined && stat.size > maxEditedBytes(change.config)) {
    return { title: `${written.verb} ${path}, of ${plural(stat.size, 'byte', 'bytes')} now` }
  }
  const turn = createWorkTurn(change.context.signal)
  const before = stat === undefined ? undefined : await readText(change.module, path)
  if (turn.due) await turn.pause()
  const after = await written.make(before, stat)
  if (turn.due) await turn.pause()
  const sides = { from: stat && path, to: path, before: before ?? '', after }
  const { diff, isCut } = await fileDiff(sides, turn)
  const size = plural(utf8Length(after), 'byte', 'bytes')
  const verb = stat === undefined ? 'create' : written.verb
  return { title: `${verb} ${path}: ${size}`, body: diff, format: 'diff', truncated: isCut }
}

/** The diffs of all files of a patch. */
export async function previewPlan(
  change: FileChange,
  plan: readonly PlannedFile[],
): Promise<ModulePreview> {
  const diffs: FileDiff[] = []
  for (const file of plan) diffs.push(await planDiff(change, file))
  const names = plan.map(({ action, from, path }) =>
    from === undefined ? `${path} ${action}` : `${from} ${action} to ${path}`,
  )
  return {
    title: `patch ${plural(plan.length, 'file', 'files')}: ${names.join(', ')}`,
    body: diffs.map(({ diff }) => diff).join('\n'),
    format: 'diff',
    truncated: diffs.some(({ isCut }) => isCut),
  }
}

async function planDiff(change: FileChange, file: PlannedFile): Promise<FileDiff> {
  const { action, path, from = path, content, before } = file
  const isGone = action === 'removed'
  // A file that is moved or copied as it is: its names say it all.
  if (content === undefined && !isGone) return { diff: file.diff, isCut: false }
  const sides = {
    from: before === undefined ? undefined : from,
    to: isGone ? undefined : path,
    before: textOf(before?.data),
    after: content ?? '',
  }
  return fileDiff(sides, createWorkTurn(change.context.signal))
}

function textOf(data: string | Uint8Array = ''): string {
  return typeof data === 'string' ? data : decodeText(data)
}
