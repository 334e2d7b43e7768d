import { ToolInputError } from '../../errors/tool-input-error.ts'
import type { PlannedFile } from './patch.ts'
import type { FileChange } from './rewrite-file.ts'
import { staleWrite } from './rewrite-file.ts'

/** A file after its part of the plan was carried out. */
export interface WrittenFile {
  readonly path: string
  readonly action: 'created' | 'changed' | 'removed'
  /** Absent when it was removed. */
  readonly version?: string
}

/**
 * Carries out a plan: all of it, or, when a write fails, none as far as that can be undone.
 * @throws {FileSystemError} what the failing write threw, when all others were undone.
 * @throws {ToolInputError} `patch-failed`, with the files that could not be put back.
 */
export async function writePlan(
  change: FileChange,
  plan: readonly PlannedFile[],
): Promise<WrittenFile[]> {
  const written: WrittenFile[] = []
  try {
    for (const file of plan) written.push(await writeOne(change, file))
  } catch (error) {
    const left = await undo(change, plan, written)
    if (left.length === 0) throw error
    const names = left.map((path) => JSON.stringify(path)).join(', ')
    throw new ToolInputError('patch-failed', `a write failed, and these stay changed: ${names}`, {
      hint: 'Read these files before you go on.',
      cause: error,
    })
  }
  record(change, written)
  return written
}

async function writeOne(change: FileChange, file: PlannedFile): Promise<WrittenFile> {
  const { module } = change
  const { path, content, before } = file
  if (content === undefined) {
    const current = await module.stat(path)
    if (current.version !== before?.version) throw staleWrite(current, undefined)
    await module.rm(path)
    return { path, action: 'removed' }
  }
  const options = before === undefined ? { ifAbsent: true } : { ifVersion: before.version }
  const { version } = await module.writeFile(path, content, options)
  return { path, action: before === undefined ? 'created' : 'changed', version }
}

/** Puts back what was written, the last first. Returns the paths that stay changed. */
async function undo(
  change: FileChange,
  plan: readonly PlannedFile[],
  written: readonly WrittenFile[],
): Promise<string[]> {
  const left: string[] = []
  for (const file of written.toReversed()) {
    const before = plan.find((planned) => planned.path === file.path)?.before
    const isBack = await restore(change, file, before?.text).catch(() => false)
    if (!isBack) left.push(file.path)
  }
  return left
}

/** False when somebody else has changed the file since. */
async function restore(
  change: FileChange,
  file: WrittenFile,
  text: string | undefined,
): Promise<boolean> {
  const { module, context } = change
  if (text === undefined) {
    const current = await module.stat(file.path)
    if (current.version !== file.version) return false
    await module.rm(file.path)
    return true
  }
  const options = file.version === undefined ? { ifAbsent: true } : { ifVersion: file.version }
  const { version } = await module.writeFile(file.path, text, options)
  context.ledger.recordWrite(context.actor, file.path, version)
  return true
}

function record(change: FileChange, written: readonly WrittenFile[]): void {
  const { actor, ledger } = change.context
  for (const { path, action, version } of written) {
    if (version === undefined) ledger.forget(path)
    else ledger.recordWrite(actor, path, version, action === 'created' ? 'whole' : 'before')
  }
}
