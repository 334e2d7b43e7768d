import { readFileSync } from 'node:fs'

/** A patch as a model writes it, and its exact outcome. */
export interface PatchCase {
  readonly what: string
  /** Files there are; those of `base` when absent. */
  readonly files?: Readonly<Record<string, string>>
  /** The lines of the patch. */
  readonly patch: readonly string[]
  /** Files that are different afterwards; null for one that is gone. */
  readonly gives?: Readonly<Record<string, string | null>>
  /** Parts of the result, or of the refusal. */
  readonly says?: readonly string[]
  /** The code of the refusal: then no file changes. */
  readonly refused?: string
}

interface PatchCases {
  /** The files of most cases. */
  readonly base: Readonly<Record<string, string>>
  readonly unified: readonly PatchCase[]
  /** Folders that are named as the prefixes of git. */
  readonly folders: readonly PatchCase[]
  readonly v4a: readonly PatchCase[]
}

export const patchCases = JSON.parse(
  readFileSync(new URL('patch-cases.json', import.meta.url), 'utf8'),
) as PatchCases
