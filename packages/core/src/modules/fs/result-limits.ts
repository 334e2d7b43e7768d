/** Budgets of one tool result of this module, as the model reads it. */
export const resultLimits = {
  /** Lines of a page of `read_file`, when the call does not say. */
  readLines: 2000,
  /** Characters of any result. */
  characters: 30_000,
  /** Characters of the diffs that `edit_file`, `multi_edit` and `apply_patch` return. */
  diffCharacters: 24_000,
  /** A longer line of a file is shown in pieces of this many characters. */
  lineCharacters: 2000,
  /** Paths of one `ls` or `glob`. */
  entries: 1000,
  /** Matching lines of one `grep`, when the call does not say. */
  grepMatches: 200,
  /** A longer matching line is cut. */
  grepLineCharacters: 400,
  /** Skipped files that `grep` names. */
  skippedPaths: 20,
} as const
