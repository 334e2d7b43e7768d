import { patchFailed, type PatchHunk, type PatchLine, type PatchSection } from './patch-model.ts'
import { describeLine, type PatchReader } from './patch-reader.ts'
import { readHunk } from './read-hunk.ts'

const HEADER = /^\*\*\* (Update|Add|Delete) File:(.*)$/

/** Whether a line begins a file of the format between `*** Begin Patch` and `*** End Patch`. */
export function startsV4a(reader: PatchReader, index = reader.at): boolean {
  return HEADER.test(reader.lineAt(index))
}

/**
 * Takes one file of the V4A format: `*** Update File`, `*** Add File` or `*** Delete File`.
 * @throws {ToolInputError} `patch-failed`.
 */
export function readV4a(reader: PatchReader): PatchSection {
  const at = reader.at + 1
  const [, what, name = ''] = HEADER.exec(reader.take()) ?? []
  const file = name.trim()
  if (file === '') throw patchFailed(`line ${at} of the patch names no file`)
  const base = { at, hasPrefixes: false, notes: [] }
  if (what === 'Delete') return { ...base, kind: 'remove', from: file, hunks: [], removesAll: true }
  if (what === 'Add') {
    return { ...base, kind: 'create', to: file, hunks: readAdded(reader, file), removesAll: false }
  }
  const to = readMove(reader)
  const hunks = readUpdates(reader, file)
  if (to === undefined && hunks.length === 0) {
    throw patchFailed(
      `the patch has no hunk for ${JSON.stringify(file)} (line ${at} of the patch)`,
      'Put lines that begin with a blank, + or - below the line *** Update File.',
    )
  }
  const kind = to === undefined ? 'change' : 'move'
  return { ...base, kind, from: file, to: to ?? file, hunks, removesAll: false }
}

/** A line that belongs to no file, or to the previous one without being marked as its part. */
export function strayV4aLine(reader: PatchReader, previous: PatchSection | undefined): Error {
  const where = reader.describeNext()
  const name = JSON.stringify(previous?.to ?? previous?.from)
  switch (previous?.kind) {
    case 'create':
      return patchFailed(`${where} belongs to the new file ${name} and has no +`, MARK_ADDED)
    case 'remove':
      return patchFailed(
        `${where} stands below the removed file ${name}`,
        'End the file with nothing: *** Delete File: needs no lines.',
      )
    case undefined:
      return patchFailed(
        `${where} begins no file`,
        'Begin each file with *** Update File: name, *** Add File: name or *** Delete File: name, without other words between.',
      )
    default:
      return patchFailed(
        `${where} is no line of a hunk of ${name}`,
        'Begin each line of a hunk with a blank, + or -, and each further hunk with @@.',
      )
  }
}

const MARK_ADDED = 'Begin each line of a new file with +, empty ones too.'

function readMove(reader: PatchReader): string | undefined {
  const to = /^\*\*\* Move to:(.*)$/.exec(reader.next)?.[1]?.trim() ?? ''
  if (to === '') return undefined
  reader.take()
  return to
}

function readUpdates(reader: PatchReader, file: string): PatchHunk[] {
  const hunks: PatchHunk[] = []
  for (;;) {
    const next = reader.lineAt(reader.nextText())
    // Only the first hunk may do without a header.
    const isHunk = next.startsWith('@@') || (hunks.length === 0 && /^[ +-]/.test(next))
    if (!isHunk) return hunks
    if (next.startsWith('@@')) reader.skipBlank()
    hunks.push(readHunk(reader, { file, number: hunks.length + 1, takesScopes: true }))
  }
}

/** The lines of a new file: each has a `+`. */
function readAdded(reader: PatchReader, file: string): PatchHunk[] {
  const at = reader.at + 1
  const lines: PatchLine[] = []
  for (;;) {
    const end = reader.nextText()
    if (!reader.lineAt(end).startsWith('+')) break
    if (end > reader.at) {
      throw patchFailed(
        `${describeLine(reader.at, reader.next)} stands between lines of the new file ${JSON.stringify(file)} and has no +`,
        MARK_ADDED,
      )
    }
    const raw = reader.take()
    const hasReturn = raw.endsWith('\r')
    lines.push({
      sign: '+',
      text: raw.slice(1, hasReturn ? -1 : undefined),
      hasReturn,
      isOpen: false,
    })
  }
  if (lines.length === 0) return []
  const hunk = { number: 1, at, oldStart: 0, isInsertion: true, isRecounted: false }
  return [{ ...hunk, scopes: [], isAtEnd: false, lines }]
}
