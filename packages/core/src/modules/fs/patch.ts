import type { StructuredPatch } from 'diff'
import { FileSystemError } from '../../errors/file-system-error.ts'
import { ToolInputError } from '../../errors/tool-input-error.ts'
import { maxEditedBytes, readEditableText } from './editable-text.ts'
import { normalizePath } from './path.ts'
import { type FileChange, requireRead, statUnlessStale } from './rewrite-file.ts'

const NOWHERE = '/dev/null'

/** What a patch does to one file, worked out before anything is written. */
export interface PlannedFile {
  readonly path: string
  /** Absent: the file is removed. */
  readonly content?: string
  /** Absent: the file is new. */
  readonly before?: { readonly version: string; readonly text: string }
}

/**
 * Works out all new contents of a unified diff over several files. Writes nothing.
 *
 * @throws {ToolInputError} `patch-failed` when it cannot be read or does not fit.
 * @throws {FileSystemError} `stale-write`, `not-found`, `already-exists`.
 */
export async function planPatch(change: FileChange, patch: string): Promise<PlannedFile[]> {
  const { applyPatch, parsePatch } = await import('diff')
  const files = parse(patch, parsePatch)
  const plan: PlannedFile[] = []
  for (const file of files) {
    const { from, to } = pathsOf(file)
    const path = normalizePath(to ?? from ?? '')
    if (plan.some((planned) => planned.path === path)) throw twice(path)
    const before = from === undefined ? undefined : await currentFile(change, path, file)
    if (before === undefined) await refuseExisting(change, path)
    plan.push(planFile({ path, content: applyPatch(before?.text ?? '', file), before }, to))
  }
  return plan
}

interface PatchedFile {
  readonly path: string
  /** False when the patch does not fit. */
  readonly content: string | false
  readonly before: PlannedFile['before'] | undefined
}

function planFile(patched: PatchedFile, to: string | undefined): PlannedFile {
  const { path, content, before } = patched
  if (content === false) throw doesNotFit(path)
  return { path, ...(to !== undefined && { content }), ...(before !== undefined && { before }) }
}

function parse(
  patch: string,
  parsePatch: (patch: string) => StructuredPatch[],
): readonly StructuredPatch[] {
  let files: readonly StructuredPatch[] = []
  try {
    files = parsePatch(patch).filter((file) => file.hunks.length > 0)
  } catch (error) {
    // Without a cause: it is the mistake of a model, and no operator need hear of it.
    const reason = error instanceof Error ? error.message : 'it cannot be read'
    throw patchFailed(`the patch is not a unified diff: ${reason.slice(0, 300)}`)
  }
  if (files.length === 0) throw patchFailed('the patch holds no hunk')
  return files
}

/** The file before and after; undefined for `/dev/null`. */
function pathsOf(file: StructuredPatch): {
  readonly from: string | undefined
  readonly to: string | undefined
} {
  const from = filePath(file.oldFileName, 'a/')
  const to = filePath(file.newFileName, 'b/')
  if (from === undefined && to === undefined) throw patchFailed('a hunk has no file name')
  const isRename =
    from !== undefined && to !== undefined && normalizePath(from) !== normalizePath(to)
  if (isRename) throw patchFailed('a patch cannot rename a file; use move')
  return { from, to }
}

function filePath(name: string | undefined, prefix: string): string | undefined {
  if (name === undefined || name === '' || name === NOWHERE) return undefined
  return name.startsWith(prefix) ? name.slice(prefix.length) : name
}

async function currentFile(
  change: FileChange,
  path: string,
  file: StructuredPatch,
): Promise<NonNullable<PlannedFile['before']>> {
  const stat = await statUnlessStale(change, path)
  if (stat === undefined) throw new FileSystemError('not-found', path)
  for (const hunk of file.hunks) {
    const last = Math.max(hunk.oldStart, hunk.oldStart + hunk.oldLines - 1)
    requireRead(change, path, [hunk.oldStart, last])
  }
  const text = await readEditableText(change.module, stat, maxEditedBytes(change.config))
  return { version: stat.version, text }
}

async function refuseExisting(change: FileChange, path: string): Promise<void> {
  if ((await statUnlessStale(change, path)) === undefined) return
  throw new FileSystemError('already-exists', path, { detail: 'the patch makes it new' })
}

function doesNotFit(path: string): ToolInputError {
  return patchFailed(`the patch does not fit ${JSON.stringify(path)}; nothing was changed`)
}

function twice(path: string): ToolInputError {
  return patchFailed(`the patch names ${JSON.stringify(path)} twice`)
}

function patchFailed(detail: string): ToolInputError {
  return new ToolInputError('patch-failed', detail, {
    hint: 'Send a unified diff whose context lines are exactly those of the files now.',
  })
}
