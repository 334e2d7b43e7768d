/**
 * What a preview was made from: fingerprints by path, `null` for a path without a file. An approval
 * counts only while all of it is still so.
 */
export type PreviewBasis = Readonly<Record<string, string | null>>

/** A preview as a module makes it: not yet redacted, cut, and with hidden characters made visible. */
export interface ModulePreview {
  /** One line: the command, or what the call does to which path. */
  readonly title: string
  readonly body?: string
  /** How `body` is to be shown. Default: `text`. */
  readonly format?: 'diff' | 'text' | 'json'
  /** The body is not whole. */
  readonly truncated?: boolean
}
