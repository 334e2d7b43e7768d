import { compose, limit, type ScriptValue } from './compose.ts'

/** Where the new content comes from. */
export type ContentSource =
  | { readonly from: 'text'; readonly text: string }
  | { readonly from: 'base64'; readonly text: string }
  /** A file that another call is still filling, or has filled; complete at `sizeBytes`. */
  | {
      readonly from: 'staged'
      readonly path: string
      readonly sizeBytes: number
      readonly isFilled?: boolean
    }

export interface WriteConditions {
  readonly ifVersion?: string
  readonly ifAbsent?: boolean
}

/** The script that replaces a file in one step: a temporary file beside it, then a rename. */
export function writeScript(
  path: string,
  source: ContentSource,
  { ifVersion, ifAbsent }: WriteConditions,
): string {
  const values = {
    path,
    ...contentOf(source),
    absent: ifAbsent,
    checked: ifVersion !== undefined,
    version: ifVersion,
  }
  return compose(values, 'content', 'write')
}

export interface AppendLimits {
  readonly addedBytes: number
  readonly maxBytes?: number
}

/** The script that adds to the end of a file. */
export function appendScript(
  path: string,
  source: ContentSource,
  { addedBytes, maxBytes }: AppendLimits,
): string {
  const values = { path, ...contentOf(source), added: addedBytes, most: limit(maxBytes) }
  return compose(values, 'content', 'append')
}

function contentOf(source: ContentSource): Readonly<Record<string, ScriptValue>> {
  if (source.from !== 'staged') return { kind: source.from, content: source.text }
  const { path, sizeBytes, isFilled } = source
  return { kind: 'staged', staged: path, size: sizeBytes, filled: isFilled }
}
