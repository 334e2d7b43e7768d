import { ToolInputError } from '../../../errors/tool-input-error.ts'
import type { WriteOptions } from '../contract.ts'
import type { PlannedFile } from '../patch/plan-patch.ts'
import type { FileChange } from './rewrite-file.ts'
import { staleWrite } from './rewrite-file.ts'

/** A file after its part of the plan was carried out. */
export interface WrittenFile {
  readonly path: string
  readonly action: PlannedFile['action']
  /** Where a moved or copied file was. */
  readonly from?: string
  /** Absent when it was removed. */
  readonly version?: string
  readonly diff: string
  /** What was done otherwise than the patch says. */
  readonly notes: readonly string[]
}

/** One step of a plan, as far as it was carried out. */
interface Done {
  readonly file: PlannedFile
  /** Of the file afterwards; absent when it was removed, or the version could not be read. */
  readonly version?: string
  /** It has its new content. */
  readonly isWritten?: boolean
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
  const done: Done[] = []
  try {
    // A copy is one of the file before the patch.
    const copies = plan.filter((file) => file.action === 'copied')
    const others = plan.filter((file) => file.action !== 'copied')
    for (const file of [...copies, ...others]) await writeOne(change, file, done)
  } catch (error) {
    const left = await undo(change, done)
    if (left.length === 0) throw error
    const names = [...new Set(left)].map((path) => JSON.stringify(path)).join(', ')
    throw new ToolInputError('patch-failed', `a write failed, and these stay changed: ${names}`, {
      hint: 'Read these files before you go on.',
      cause: error,
    })
  }
  record(change, done)
  const versions = new Map(done.map(({ file, version }) => [file, version]))
  return plan.map((file) => toWritten(file, versions.get(file)))
}

function toWritten(file: PlannedFile, version: string | undefined): WrittenFile {
  const { path, action, from, diff, notes } = file
  return {
    path,
    action,
    ...(from !== undefined && { from }),
    ...(version !== undefined && { version }),
    diff,
    notes,
  }
}

/** A moved or copied file with a new content takes two steps, each of which can be undone. */
async function writeOne(change: FileChange, file: PlannedFile, done: Done[]): Promise<void> {
  const { module } = change
  const { path, content, before, from, action } = file
  if (action === 'removed') {
    await requireVersion(change, path, before?.version)
    await module.rm(path)
    done.push({ file })
    return
  }
  let version = before?.version
  if (from !== undefined) {
    await requireVersion(change, from, version)
    await (action === 'moved' ? module.move(from, path) : module.copy(from, path))
    // Undone also when its version cannot be read.
    const step: { file: PlannedFile; version?: string } = { file }
    done.push(step)
    version = (await module.stat(path)).version
    step.version = version
  }
  if (content === undefined) return
  const stat = await module.writeFile(path, content, onlyOver(version))
  done.push({ file, version: stat.version, isWritten: true })
}

async function requireVersion(
  { module }: FileChange,
  path: string,
  version: string | undefined,
): Promise<void> {
  const current = await module.stat(path)
  if (current.version !== version) throw staleWrite(current, undefined)
}

/** Puts back what was written, the last first. Returns the paths that stay changed. */
async function undo(change: FileChange, done: readonly Done[]): Promise<string[]> {
  const left: string[] = []
  const undone = new Set<PlannedFile>()
  for (const one of done.toReversed()) {
    // The second step of a file is undone together with its first one.
    if (undone.has(one.file)) continue
    undone.add(one.file)
    const isBack = await restore(change, one).catch(() => false)
    if (!isBack) left.push(one.file.path)
  }
  return left
}

/** False when another writer has changed the file since. */
async function restore(change: FileChange, done: Done): Promise<boolean> {
  const { module, context } = change
  const { file, version } = done
  const { path, action, before } = file
  // Of a removed one there is no version, nor of one that could not be asked for it.
  if (version !== undefined && (await module.stat(path)).version !== version) return false
  if (action === 'moved') await moveBack(change, done)
  else if (action === 'created' || action === 'copied') await module.rm(path)
  else {
    const stat = await module.writeFile(path, before?.data ?? '', onlyOver(version))
    context.ledger.recordWrite(context.actor, path, stat.version)
  }
  return true
}

async function moveBack(
  { module, context }: FileChange,
  { file, version, isWritten }: Done,
): Promise<void> {
  const { path, from = path, before } = file
  if (isWritten) await module.writeFile(path, before?.data ?? '', onlyOver(version))
  await module.move(path, from)
  const moved = await module.stat(from)
  if (before !== undefined) context.ledger.revise(from, before.version, moved.version)
}

/** A write replaces this version, or nothing. */
function onlyOver(version: string | undefined): WriteOptions {
  return version === undefined ? { ifAbsent: true } : { ifVersion: version }
}

function record(change: FileChange, done: readonly Done[]): void {
  const { actor, ledger } = change.context
  const moved = new Set<PlannedFile>()
  for (const { file, version } of done) {
    const { path, action, from, before } = file
    if (action === 'moved' && from !== undefined && !moved.has(file)) ledger.rename(from, path)
    moved.add(file)
    if (version === undefined) ledger.forget(path)
    else {
      // Some file systems give a moved file a new version.
      if (action === 'moved' && before !== undefined) ledger.revise(path, before.version, version)
      const isWhole = action === 'created' || action === 'copied'
      ledger.recordWrite(actor, path, version, isWhole ? 'whole' : 'before')
    }
  }
}
