import { FileSystemError } from '../../../errors/file-system-error.ts'
import { maxEditedBytes, readEditableText, rejectLarge } from '../edit/editable-text.ts'
import { type FileChange, requireRead, statUnlessStale } from '../edit/rewrite-file.ts'
import type { FileStat } from '../contract.ts'
import { createWorkTurn, type WorkTurn } from '../edit/work-turn.ts'
import { applyHunks } from './apply-hunks.ts'
import { type PatchedFile, indexLines } from './file-lines.ts'
import { resolveNames } from './file-names.ts'
import { notesOn, renderDiff, renderRemoval } from './patch-diff.ts'
import { oldLinesOf, patchFailed, type PatchSection } from './patch-model.ts'
import { parsePatch } from './parse-patch.ts'
import { type PlacedHunk, placeHunks } from './place-hunks.ts'

/** Bytes of all files of a patch, in limits for one file. */
const MAX_FILES_AT_LIMIT = 4

/** What a patch does to one file, worked out before anything is written. */
export interface PlannedFile {
  readonly action: 'created' | 'changed' | 'removed' | 'moved' | 'copied'
  /** Where the file is afterwards; of a removed one, where it was. */
  readonly path: string
  /** Where a moved or copied file was. */
  readonly from?: string
  /** The new content; absent when it stays, or goes. */
  readonly content?: string
  /** The file before: of a moved or copied one, that at `from`. Absent: the file is new. */
  readonly before?: { readonly version: string; readonly data?: string | Uint8Array }
  readonly diff: string
  /** What was done otherwise than the patch says. */
  readonly notes: readonly string[]
}

/** What all files of a patch share. */
interface Planning {
  readonly change: FileChange
  readonly turn: WorkTurn
  readonly hasReturns: boolean
  /** Bytes that may still be read. */
  room: number
}

/**
 * Works out all new contents of a patch over several files. Writes nothing.
 *
 * @throws {ToolInputError} `patch-failed` when a line cannot be read or does not fit.
 * @throws {FileSystemError} `stale-write`, `not-found`, `already-exists`, `too-large`.
 */
export async function planPatch(change: FileChange, text: string): Promise<PlannedFile[]> {
  const { sections, hasReturns } = parsePatch(text)
  const turn = createWorkTurn(change.context.signal)
  const room = maxEditedBytes(change.config) * MAX_FILES_AT_LIMIT
  const planning: Planning = { change, turn, hasReturns, room }
  const plan: PlannedFile[] = []
  const named = new Set<string>()
  for (const section of sections) {
    const ends = await endsOf(change, section, sections)
    for (const path of section.kind === 'copy' ? [ends.to] : new Set([ends.from, ends.to])) {
      if (named.has(path)) throw twice(path, section)
      named.add(path)
    }
    plan.push(await planSection(planning, section, ends))
  }
  return plan
}

/** Where the file of a section is, and where it will be. */
async function endsOf(
  change: FileChange,
  section: PatchSection,
  sections: readonly PatchSection[],
): Promise<Ends> {
  const paths = await resolveNames(change, section, sections)
  const { to = '', from = to } = paths
  const isTransfer = section.kind === 'move' || section.kind === 'copy'
  if (!isTransfer || from !== to) return { from, to: paths.to ?? from }
  throw patchFailed(
    `line ${section.at} of the patch gives ${JSON.stringify(from)} the name that it has`,
    'Leave the lines of the rename out, or write another name.',
  )
}

interface Ends {
  readonly from: string
  readonly to: string
}

async function planSection(
  planning: Planning,
  section: PatchSection,
  { from, to }: Ends,
): Promise<PlannedFile> {
  const { change } = planning
  if (section.kind === 'create') {
    await rejectExisting(change, to, section)
    return created(planning, section, to)
  }
  const stat = await statUnlessStale(change, from)
  if (stat === undefined) throw missing(from, section)
  // Two names without the headers of git: a rename, as it would be with them.
  const isTransfer = section.kind !== 'remove' && from !== to
  if (isTransfer) await rejectExisting(change, to, section)
  if (section.removesAll) return removedAsAWhole(planning, stat)
  if (section.hunks.length === 0 && isTransfer) return transferred(section, stat, to)
  return rewritten(planning, section, { stat, to })
}

async function created(
  planning: Planning,
  section: PatchSection,
  path: string,
): Promise<PlannedFile> {
  const old = section.hunks.find((hunk) => oldLinesOf(hunk).length > 0)
  if (old !== undefined || section.hunks.length > 1) {
    throw patchFailed(
      `hunk ${old?.number ?? 2} of ${JSON.stringify(path)} (line ${old?.at ?? section.at} of the patch) has lines of an old file, and the patch makes the file new`,
      'Begin each line of a new file with +. To change a file that exists, write its name after --- instead of /dev/null.',
    )
  }
  const file = { path, lines: await indexLines('', true, planning.turn), turn: planning.turn }
  const placed = section.hunks.map((hunk) => ({ hunk, place: 0 }))
  const content = applyHunks(file, placed, planning.hasReturns)
  const diff = renderDiff({ from: undefined, to: path }, placed)
  return { action: 'created', path, content, diff, notes: section.notes }
}

interface Target {
  readonly stat: FileStat
  readonly to: string
}

async function rewritten(
  planning: Planning,
  section: PatchSection,
  { stat, to }: Target,
): Promise<PlannedFile> {
  const { change, turn } = planning
  takeRoom(planning, stat)
  const text = await readEditableText(change.module, stat, maxEditedBytes(change.config))
  const hasMark = section.hunks.some((hunk) =>
    hunk.lines.some((line) => line.text.startsWith('\uFEFF')),
  )
  const file = { path: stat.path, lines: await indexLines(text, hasMark, turn), turn }
  const placed = await placeHunks(file, section.hunks)
  for (const one of placed) requireRead(change, stat.path, oldRange(one))
  const content = applyHunks(file, placed, planning.hasReturns)
  if (turn.due) await turn.pause()
  const before = { version: stat.version, data: text }
  const notes = [...section.notes, ...notesOn(placed)]
  if (section.kind === 'remove') {
    rejectLeftover(file, content, section)
    const diff = renderDiff({ from: stat.path, to: undefined }, placed)
    return { action: 'removed', path: stat.path, before, diff, notes }
  }
  const isCopy = section.kind === 'copy'
  const diff = renderDiff({ from: stat.path, to, isCopy }, placed)
  if (stat.path === to) return { action: 'changed', path: to, content, before, diff, notes }
  const action = isCopy ? 'copied' : 'moved'
  return { action, path: to, from: stat.path, content, before, diff, notes }
}

/** The lines of a file that a hunk stands on, from 1. */
function oldRange({ hunk, place }: PlacedHunk): readonly [number, number] {
  const count = oldLinesOf(hunk).length
  return count === 0 ? [Math.max(1, place), Math.max(1, place)] : [place + 1, place + count]
}

function transferred(section: PatchSection, stat: FileStat, to: string): PlannedFile {
  const isCopy = section.kind === 'copy'
  const action = isCopy ? 'copied' : 'moved'
  const diff = renderDiff({ from: stat.path, to, isCopy }, [])
  const before = { version: stat.version }
  return { action, path: to, from: stat.path, before, diff, notes: section.notes }
}

async function removedAsAWhole(planning: Planning, stat: FileStat): Promise<PlannedFile> {
  const { change } = planning
  requireRead(change, stat.path)
  takeRoom(planning, stat)
  rejectLarge(stat, maxEditedBytes(change.config))
  // It is kept until all is written: then it can be put back.
  const data = await change.module.readFile(stat.path)
  const before = { version: stat.version, data }
  const diff = renderRemoval(stat.path, data)
  return { action: 'removed', path: stat.path, before, diff, notes: [] }
}

function takeRoom(planning: Planning, stat: FileStat): void {
  rejectLarge(stat, maxEditedBytes(planning.change.config))
  planning.room -= stat.size
  if (planning.room >= 0) return
  throw patchFailed(
    `the files of the patch are too large together: ${JSON.stringify(stat.path)} does not fit`,
    'Send it in several calls, some files at a time.',
  )
}

function rejectLeftover(file: PatchedFile, content: string, section: PatchSection): void {
  if (content === '' || content === '\uFEFF') return
  const { count } = file.lines
  const held = section.hunks
    .flatMap((hunk) => hunk.lines)
    .filter((line) => line.sign === '-').length
  throw patchFailed(
    `the patch removes ${JSON.stringify(file.path)} (line ${section.at} of the patch) and holds ${held} of its ${count} lines`,
    'Write all of its lines with -, or remove the file with rm. To keep the file, write its name after +++ instead of /dev/null.',
  )
}

async function rejectExisting(
  change: FileChange,
  path: string,
  section: PatchSection,
): Promise<void> {
  if ((await statUnlessStale(change, path)) === undefined) return
  throw new FileSystemError('already-exists', path, {
    detail: `line ${section.at} of the patch makes it new; nothing was changed`,
    hint: 'To change it, name it as the old file, with hunks against what it holds now; else choose another name.',
  })
}

function missing(path: string, section: PatchSection): FileSystemError {
  return new FileSystemError('not-found', path, {
    detail: `line ${section.at} of the patch needs it; nothing was changed`,
    hint: 'Look with ls or glob at what is there. For a new file write --- /dev/null. The prefixes a/ and b/ are left out; write /a/name for a file of a folder a.',
  })
}

function twice(path: string, section: PatchSection): Error {
  return patchFailed(
    `the patch names ${JSON.stringify(path)} twice (line ${section.at})`,
    'Put all hunks of one file behind one header, in the order of the file.',
  )
}
