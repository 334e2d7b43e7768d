import { ToolInputError } from '../../../errors/tool-input-error.ts'

/** One line of a hunk. */
export interface PatchLine {
  readonly sign: ' ' | '+' | '-'
  /** Without its sign and its line end. */
  readonly text: string
  /** It ends with a carriage return that belongs to the file, not to the patch. */
  readonly hasReturn: boolean
  /** `\ No newline at end of file` follows. */
  readonly isOpen: boolean
}

export interface PatchHunk {
  /** Within its file, from 1. */
  readonly number: number
  /** Line of the patch where it begins, from 1. */
  readonly at: number
  /** First line of the old file by its header; absent when the header has no numbers. */
  readonly oldStart?: number
  /** The header says that it only adds lines, behind line `oldStart`. */
  readonly isInsertion: boolean
  /** The counts of the header are not those of the lines. */
  readonly isRecounted: boolean
  /** Lines below which it belongs, outermost first (`@@ class A`). */
  readonly scopes: readonly string[]
  /** It belongs to the end of the file. */
  readonly isAtEnd: boolean
  readonly lines: readonly PatchLine[]
}

export type SectionKind = 'change' | 'create' | 'remove' | 'move' | 'copy'

/** What a patch says of one file. */
export interface PatchSection {
  /** Line of the patch where it begins, from 1. */
  readonly at: number
  readonly kind: SectionKind
  /** Names as the patch has them, prefixes included. */
  readonly from?: string
  readonly to?: string
  /** Whether names begin with `a/` and `b/` that are no folders; undefined when that is not certain. */
  readonly hasPrefixes?: boolean
  readonly hunks: readonly PatchHunk[]
  /** The file is removed whatever it holds. */
  readonly removesAll: boolean
  readonly notes: readonly string[]
}

/** A patch of which every line was understood. */
export interface Patch {
  readonly sections: readonly PatchSection[]
  /** Lines carry the carriage returns of the files. */
  readonly hasReturns: boolean
}

const SEND_DIFF =
  'Send a unified diff (--- a/file, +++ b/file, @@ -1,3 +1,3 @@) whose lines begin with a blank, + or -, and are exactly those of the files.'

/** A rejection of the whole patch. */
export function patchFailed(detail: string, hint: string = SEND_DIFF): ToolInputError {
  return new ToolInputError('patch-failed', `${detail}; nothing was changed`, { hint })
}

/** Lines of a hunk that the old file has. */
export function oldLinesOf(hunk: PatchHunk): readonly PatchLine[] {
  return hunk.lines.filter((line) => line.sign !== '+')
}
