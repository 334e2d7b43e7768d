import { type Patch, patchFailed, type PatchSection } from './patch-model.ts'
import { PatchReader } from './patch-reader.ts'
import { isFence, isSignature } from './read-hunk.ts'
import { readUnified, startsUnified } from './read-unified.ts'
import { readV4a, startsV4a, strayV4aLine } from './read-v4a.ts'

const MAX_SECTIONS = 200
const MAX_HUNKS = 2000

/**
 * Reads a unified diff or a patch in the V4A format. Each line is taken by what understands it, in
 * order; the first line that nothing understands rejects the whole patch.
 *
 * @throws {ToolInputError} `patch-failed`, with the line and what to do.
 */
export function parsePatch(text: string): Patch {
  const reader = new PatchReader(text)
  const sections: PatchSection[] = []
  let frame: Frame = 'none'
  openFence(reader)
  for (reader.skipBlank(); !reader.isDone; reader.skipBlank()) {
    const next = takeFrame(reader, frame)
    frame = next ?? frame
    if (next !== undefined) continue
    if (frame === 'ended') throw notUnderstood(reader)
    sections.push(readSection(reader, frame, sections.at(-1)))
    rejectMany(sections)
  }
  if (frame === 'begun') throw withoutEnd()
  if (sections.length === 0) throw patchFailed('the patch changes no file')
  return { sections, hasReturns: reader.hasReturns }
}

/** Where between `*** Begin Patch` and `*** End Patch` the next line stands. */
type Frame = 'none' | 'begun' | 'ended'

/** Takes a line that is around the files, if the next one is such a line. */
function takeFrame(reader: PatchReader, frame: Frame): Frame | undefined {
  const line = reader.next.trimEnd()
  if (frame === 'none' && line === '*** Begin Patch') {
    reader.take()
    return 'begun'
  }
  if (frame !== 'ended' && line === '*** End Patch') {
    reader.take()
    return 'ended'
  }
  if (isSignature(reader, reader.at)) reader.take()
  else if (!isFence(reader, reader.at)) return undefined
  reader.take()
  // A patch that was cut off may end with its fence: that is no end of what was begun.
  return frame === 'begun' ? frame : 'ended'
}

function readSection(
  reader: PatchReader,
  frame: Frame,
  previous: PatchSection | undefined,
): PatchSection {
  if (startsV4a(reader)) return readV4a(reader)
  if (startsUnified(reader)) return readUnified(reader)
  const isV4a = frame === 'begun' || (previous && startsV4a(reader, previous.at - 1))
  throw isV4a === true ? strayV4aLine(reader, previous) : notUnderstood(reader)
}

/** A patch may come as a Markdown block. */
function openFence(reader: PatchReader): void {
  reader.skipBlank()
  if (/^```\w*\s*$/.test(reader.next)) reader.take()
}

function withoutEnd(): Error {
  return patchFailed(
    'the patch begins with *** Begin Patch and has no *** End Patch: it may have been cut off',
    'Send the whole patch again, in smaller parts when it is long, each with *** Begin Patch and *** End Patch.',
  )
}

function notUnderstood(reader: PatchReader): Error {
  const where = reader.describeNext()
  if (reader.next.startsWith('@@')) {
    return patchFailed(
      `${where} begins a hunk of no file`,
      'Put the lines --- a/name and +++ b/name in front of the hunks of each file.',
    )
  }
  if (/^\*\*\* \S+\s+\d{4}|^\*{15}/.test(reader.next)) {
    return patchFailed(`${where} is of a context diff`)
  }
  return patchFailed(
    `${where} is no part of a unified diff`,
    'Send nothing but the diff: no words before, between or behind the files. Begin each line of a hunk with a blank, + or -.',
  )
}

function rejectMany(sections: readonly PatchSection[]): void {
  const hunks = sections.reduce((sum, section) => sum + section.hunks.length, 0)
  if (sections.length <= MAX_SECTIONS && hunks <= MAX_HUNKS) return
  throw patchFailed(
    `the patch has more than ${MAX_SECTIONS} files or ${MAX_HUNKS} hunks`,
    'Send it in several calls, some files or hunks at a time.',
  )
}
